import { Schema } from "effect"
import { storable, textOf } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { DataPolicy, KeptRoutingPolicy, RoutingPolicy } from "../Routing.ts"
import { BudgetCents, BudgetPeriod } from "./Budgets.ts"
import { PresetSlug } from "./Presets.ts"

/** A name of 1 to 100 characters. */
const ProjectName = textOf(1, 100).check(storable)

/** A project to create. */
export const NewProject = Schema.Struct({
  name: ProjectName,
  /** Unique in the account. Default: derived from the name. */
  slug: Schema.optionalKey(PresetSlug),
  /** The spending limit per period for all its keys together. Default: unlimited. */
  budget_cents: Schema.optionalKey(Schema.NullOr(BudgetCents)),
  /** Default: its lifetime. Null only without a budget. */
  budget_period: Schema.optionalKey(Schema.NullOr(BudgetPeriod)),
  /** For requests of its keys that set no routing. Requires the scope `routing:write`. */
  routing: Schema.optionalKey(Schema.NullOr(KeptRoutingPolicy)),
  /** The loosest data policy that requests of its keys may have. Requires the scope `routing:write`. */
  data_policy: Schema.optionalKey(DataPolicy)
}).annotate({ identifier: "NewProject" })
export type NewProject = typeof NewProject.Type

/** The changes to a project, at least one. A null removes a value. */
export const ProjectChange = Schema.Struct({
  name: Schema.optionalKey(ProjectName),
  /** Unique in the account. */
  slug: Schema.optionalKey(PresetSlug),
  budget_cents: Schema.optionalKey(Schema.NullOr(BudgetCents)),
  /** Null only without a budget. */
  budget_period: Schema.optionalKey(Schema.NullOr(BudgetPeriod)),
  /** Requires the scope `routing:write`. */
  routing: Schema.optionalKey(Schema.NullOr(KeptRoutingPolicy)),
  /** Requires the scope `routing:write`. */
  data_policy: Schema.optionalKey(DataPolicy)
})
  .check(Schema.isMinProperties(1, { message: "must contain at least one field" }))
  .annotate({ identifier: "ProjectChange" })
export type ProjectChange = typeof ProjectChange.Type

/** A project, which keys can belong to. Times are Unix seconds. */
export const Project = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("project"),
  /** The name for people. */
  name: Schema.String,
  slug: PresetSlug,
  /** An archived project is final: it accepts no keys and no changes. */
  status: Schema.Literals(["active", "archived"]),
  /** The spending limit per period in whole USD cents, for all keys together; null for unlimited. */
  budget_cents: Schema.NullOr(Schema.Int),
  budget_period: Schema.NullOr(BudgetPeriod),
  /** The spending in USD cents, which may have fractions, in the budget's current period; null without a budget. */
  spent_cents: Schema.NullOr(Schema.Finite),
  routing: Schema.NullOr(RoutingPolicy),
  data_policy: DataPolicy,
  /** When the project was created. */
  created_at: Schema.Int,
  /** When the project last changed. */
  updated_at: Schema.Int,
  /** When the project was archived; null while it is active. */
  archived_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "Project" })
export type Project = typeof Project.Type

/** One project. */
export const ProjectResult = Schema.Struct({ data: Project }).annotate({ identifier: "ProjectResult" })

/** One page of projects, newest first. `next_cursor` is null on the last page. */
export const ProjectList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(Project),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "ProjectList" })
