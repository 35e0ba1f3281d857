import { Schema } from "effect"
import { storable, textOf } from "../Bounds.ts"
import { ResourceId } from "../Ids.ts"
import { Limit } from "../Page.ts"
import { DataPolicy, KeptRoutingPolicy, RoutingPolicy } from "../Routing.ts"
import { BudgetCents, BudgetPeriod } from "./Budgets.ts"
import { PresetSlug } from "./Presets.ts"

const ProjectName = textOf(1, 100).check(storable)

/** A project to be made. */
export const NewProject = Schema.Struct({
  name: ProjectName,
  /** Unique in the account; made from the name unless told. */
  slug: Schema.optionalKey(PresetSlug),
  /** What its keys together may spend in each period; unlimited unless told. */
  budget_cents: Schema.optionalKey(Schema.NullOr(BudgetCents)),
  /** All of its life unless told. Null without a budget only. */
  budget_period: Schema.optionalKey(Schema.NullOr(BudgetPeriod)),
  /** For requests of its keys that do not say otherwise. Needs the scope `routing:write`. */
  routing: Schema.optionalKey(Schema.NullOr(KeptRoutingPolicy)),
  /** The laxest that requests of its keys may have. Needs the scope `routing:write`. */
  data_policy: Schema.optionalKey(DataPolicy)
}).annotate({ identifier: "NewProject" })
export type NewProject = typeof NewProject.Type

/** What is to be otherwise with a project, one member at least. A null takes away. */
export const ProjectChange = Schema.Struct({
  name: Schema.optionalKey(ProjectName),
  slug: Schema.optionalKey(PresetSlug),
  budget_cents: Schema.optionalKey(Schema.NullOr(BudgetCents)),
  /** Null without a budget only. */
  budget_period: Schema.optionalKey(Schema.NullOr(BudgetPeriod)),
  /** Needs the scope `routing:write`. */
  routing: Schema.optionalKey(Schema.NullOr(KeptRoutingPolicy)),
  /** Needs the scope `routing:write`. */
  data_policy: Schema.optionalKey(DataPolicy)
})
  .check(Schema.isMinProperties(1, { message: "at least one member" }))
  .annotate({ identifier: "ProjectChange" })
export type ProjectChange = typeof ProjectChange.Type

/** A project, to which keys can belong. Times are Unix seconds. */
export const Project = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("project"),
  name: Schema.String,
  slug: PresetSlug,
  /** Once archived it stays so: it takes no keys and no changes. */
  status: Schema.Literals(["active", "archived"]),
  budget_cents: Schema.NullOr(Schema.Int),
  budget_period: Schema.NullOr(BudgetPeriod),
  /** In USD cents, which may have fractions, in the budget's period that runs; null without a budget. */
  spent_cents: Schema.NullOr(Schema.Finite),
  routing: Schema.NullOr(RoutingPolicy),
  data_policy: DataPolicy,
  created_at: Schema.Int,
  updated_at: Schema.Int,
  archived_at: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "Project" })
export type Project = typeof Project.Type

/** One project. */
export const ProjectResult = Schema.Struct({ data: Project }).annotate({ identifier: "ProjectResult" })

/** Newest first; `next_cursor` is null on the last page. */
export const ProjectList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(Project),
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "ProjectList" })

/** A page of projects. */
export const ProjectPage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the page before. */
  cursor: Schema.optionalKey(ResourceId)
}
