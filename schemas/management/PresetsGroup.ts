import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ManagementAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourcePage } from "../Page.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { operation } from "../Operation.ts"
import {
  NewPreset,
  PresetChange,
  PresetDeleted,
  PresetList,
  PresetResult,
  PresetSlug,
  PresetVersionList,
  PresetVersionNumber,
  PresetVersionPage
} from "./Presets.ts"

const params = {
  /** The slug of a preset. */
  slug: PresetSlug
}

const reads = { limit: "management_reads", charge: "free", scope: "presets:read" } as const
const writes = { limit: "management_writes", charge: "free", scope: "routing:write" } as const

/** Presets of the account: named configurations of chat requests, in versions that never change. */
export class ManagementPresetsGroup extends HttpApiGroup.make("managementPresets")
  .add(
    HttpApiEndpoint.get("listPresets", "/management/presets", {
      query: ResourcePage,
      success: PresetList
    }).annotateMerge(operation("management.presets.list", "List presets, newest first", reads)),
    HttpApiEndpoint.post("createPreset", "/management/presets", {
      headers: idempotency,
      payload: NewPreset,
      success: PresetResult,
      error: [ConflictError, IdempotencyError]
    }).annotateMerge(operation("management.presets.create", "Create a preset with its first version", writes)),
    HttpApiEndpoint.get("getPreset", "/management/presets/:slug", {
      params,
      success: PresetResult,
      error: NotFoundError
    }).annotateMerge(operation("management.presets.get", "Retrieve a preset", reads)),
    HttpApiEndpoint.patch("updatePreset", "/management/presets/:slug", {
      params,
      payload: PresetChange,
      success: PresetResult,
      error: [NotFoundError, ConflictError]
    }).annotateMerge(
      operation("management.presets.update", "Change a preset; a new config becomes its active version", writes)
    ),
    HttpApiEndpoint.delete("deletePreset", "/management/presets/:slug", {
      params,
      success: PresetDeleted,
      error: NotFoundError
    }).annotateMerge(operation("management.presets.delete", "Delete a preset with all its versions", writes)),
    HttpApiEndpoint.get("listPresetVersions", "/management/presets/:slug/versions", {
      params,
      query: PresetVersionPage,
      success: PresetVersionList,
      error: NotFoundError
    }).annotateMerge(operation("management.presets.versions", "List the versions of a preset, newest first", reads)),
    HttpApiEndpoint.post("activatePresetVersion", "/management/presets/:slug/versions/:version/activate", {
      params: { ...params, version: PresetVersionNumber },
      headers: idempotency,
      success: PresetResult,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(operation("management.presets.activate", "Activate a version of a preset", writes))
  )
  .middleware(ManagementAccess) {}
