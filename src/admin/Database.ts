import { Layer } from "effect"
import { Accounts } from "../account/Accounts.ts"
import { Audit } from "../account/Audit.ts"
import { Keys } from "../account/Keys.ts"
import { Plans } from "../account/Plans.ts"
import { Customers } from "../billing/Customers.ts"
import { Sandbox } from "../billing/Sandbox.ts"
import { layer as prepared } from "../ledger/FunctionsSql.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Config } from "../platform/config/Config.ts"
import { DataDirectory } from "../platform/database/DataDirectory.ts"
import { layerCommand as sql } from "../platform/database/Sql.ts"
import { Operator } from "../operator/Operator.ts"
import { SpendLimits } from "../operator/SpendLimits.ts"
import { OperatorEvents } from "../account/OperatorEvents.ts"
import { OperatorKeys } from "../account/OperatorKeys.ts"
import { Margins } from "../usage/Margins.ts"
import { logLayer } from "./Output.ts"

const store = prepared.pipe(Layer.provideMerge(sql))

const accounts = Layer.mergeAll(Accounts.layer, Keys.layer, Plans.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Audit.layer, OperatorEvents.layer))
)

const services = Layer.mergeAll(
  Customers.layer,
  Sandbox.layer,
  Margins.layer,
  Operator.layer,
  OperatorKeys.layer,
  SpendLimits.layer
).pipe(Layer.provideMerge(Ledger.layer), Layer.provideMerge(accounts), Layer.provideMerge(store))

/**
 * The services of the commands, on the database of the settings. It may belong to a running service or be opened for the command
 * alone.
 */
export const layer = services.pipe(Layer.provideMerge(DataDirectory.layer))

const withSettings = <A, E, R, E2, R2>(parts: Layer.Layer<A, E, R>, directory: Layer.Layer<DataDirectory, E2, R2>) =>
  parts.pipe(Layer.provideMerge(directory), Layer.provide(logLayer), Layer.provideMerge(Config.layer))

/** The services with the settings and the log, on a database that exists. */
export const database = withSettings(services, DataDirectory.layerExisting)

/** The same for a command that an operator may run before the first start. It creates the embedded database when there is none. */
export const newDatabase = withSettings(services, DataDirectory.layer)

/** The database alone, as it is: an empty one stays empty, and one of an earlier version stays that. */
export const bareDatabase = withSettings(sql, DataDirectory.layerExisting)

/** The same for a command that fills a new database. It creates the embedded database when there is none. */
export const newBareDatabase = withSettings(sql, DataDirectory.layer)
