/** The gateway with a ledger that grants everything and records nothing: the cost of everything but the money. */
// Compiles schemas to functions, as in the product. This import must come before any schema.
import "effect/schema/SchemaJITCompiler/enable"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, References } from "effect"
import { layerWith } from "../../src/App.ts"
import { localOrigin } from "../../src/Demo.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { AnyResult, Operation, OperationResult } from "../../src/ledger/Operation.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { endWithParent } from "./Ready.ts"

const LARGE_BALANCE = 1_000_000_000_000n

const resultOf = (operation: Operation): AnyResult => {
  switch (operation._tag) {
    case "Hold":
      return { _tag: "Granted", granted: operation.upTo }
    case "Extend":
      return { _tag: "Extended" }
    case "Close":
      return { _tag: "Closed", settled: operation.settle?.cost ?? 0n, absorbed: 0n, posted: LARGE_BALANCE, held: 0n }
    case "Credit":
    case "Adjust":
    case "Refund":
      return { _tag: "Moved" }
  }
}

const answer = <Op extends Operation>(operation: Op) => Effect.succeed(resultOf(operation) as OperationResult<Op>)

const grantingLedger = Layer.succeed(
  Ledger,
  Ledger.of({
    commit: answer,
    within: (_transaction, operation) => answer(operation),
    carve: (_from, hold) => answer(hold),
    conclude: () => Effect.succeed("Concluded"),
    concludeAlone: () => Effect.succeed({ _tag: "Concluded", cost: 0n, posted: LARGE_BALANCE }),
    end: (_request, cost = 0n) => Effect.succeed({ cost, posted: LARGE_BALANCE }),
    giveBack: () => Effect.void,
    refundOverdue: Effect.succeed(0),
    balance: () => Effect.succeed({ posted: LARGE_BALANCE, held: 0n }),
    expireOverdue: Effect.succeed(0),
    freeLapsed: () => Effect.succeed(0),
    dropClaims: () => Effect.succeed(0)
  })
)

const announce = Effect.flatMap(localOrigin, (origin) => Console.log(`ready at ${origin}`))

const service = Layer.effectDiscard(announce).pipe(
  Layer.provide(layerWith(grantingLedger)),
  Layer.provide(Layer.mergeAll(Logger.layer([]), Layer.succeed(References.MinimumLogLevel, "None"))),
  Layer.provide(Config.layer)
)

endWithParent()
NodeRuntime.runMain(Layer.launch(service))
