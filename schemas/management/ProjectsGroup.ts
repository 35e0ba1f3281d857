import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ManagementAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { ResourcePage } from "../Page.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { operation } from "../Operation.ts"
import { NewProject, ProjectChange, ProjectList, ProjectResult } from "./Projects.ts"

const params = {
  /** The id of a project. */
  project_id: ResourceId
}

const reads = { limit: "management_reads", charge: "free", scope: "projects:read" } as const
const writes = { limit: "management_writes", charge: "free", scope: "projects:write" } as const

/** Projects of the account: groups of keys with one budget, one routing and one data policy. */
export class ManagementProjectsGroup extends HttpApiGroup.make("managementProjects")
  .add(
    HttpApiEndpoint.get("listProjects", "/management/projects", {
      query: ResourcePage,
      success: ProjectList
    }).annotateMerge(operation("management.projects.list", "List projects, newest first", reads)),
    HttpApiEndpoint.post("createProject", "/management/projects", {
      headers: idempotency,
      payload: NewProject,
      success: ProjectResult,
      error: [ConflictError, IdempotencyError]
    }).annotateMerge(operation("management.projects.create", "Make a project", writes)),
    HttpApiEndpoint.get("getProject", "/management/projects/:project_id", {
      params,
      success: ProjectResult,
      error: NotFoundError
    }).annotateMerge(operation("management.projects.get", "Retrieve a project", reads)),
    HttpApiEndpoint.patch("updateProject", "/management/projects/:project_id", {
      params,
      payload: ProjectChange,
      success: ProjectResult,
      error: [NotFoundError, ConflictError]
    }).annotateMerge(operation("management.projects.update", "Change a project", writes)),
    HttpApiEndpoint.post("archiveProject", "/management/projects/:project_id/archive", {
      params,
      headers: idempotency,
      success: ProjectResult,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(
      operation("management.projects.archive", "Archive a project for good, and revoke its keys immediately", writes)
    )
  )
  .middleware(ManagementAccess) {}
