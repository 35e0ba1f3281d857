/** Converts the tools of a Responses request to functions, which every model accepts, and records what each function represents. */
import { hash } from "node:crypto"
import { Result, type Schema } from "effect"
import { TOOLS_MAX } from "../../../schemas/Bounds.ts"
import {
  HOSTED_TOOLS,
  ResponsesCustomTool,
  ResponsesFunctionTool,
  ResponsesNamespaceTool,
  ResponsesToolSearchTool,
  type ResponsesToolReference
} from "../../../schemas/inference/ResponsesTools.ts"
import type { Tool } from "../../domain/Conversation.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { REQUIRED } from "../../domain/SchemaProblems.ts"
import { unsupportedParameter } from "../chat/Foreign.ts"
import { decoder, objectOf, within } from "../Decode.ts"

/** The tool of the request that a function represents. */
export interface ToolForm {
  readonly kind: "function" | "custom" | "search"
  readonly name: string
  readonly namespace?: string
}

/** By the name of the function that the model sees. */
export type ToolForms = ReadonlyMap<string, ToolForm>

/** The longest name that every host accepts. */
const NAME_MAX = 64

const SEARCH = "tool_search"

const loose = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => decoder(schema, { strict: false, whole: "" })

const decodeFunction = loose(ResponsesFunctionTool)
const decodeCustom = loose(ResponsesCustomTool)
const decodeNamespace = loose(ResponsesNamespaceTool)
const decodeSearch = loose(ResponsesToolSearchTool)

const hosted: ReadonlySet<string> = new Set(HOSTED_TOOLS)

/** Whether only OpenAI's own servers run a tool of this type. */
export const isHosted = (type: string): boolean =>
  hosted.has(type) || /^web_search(_preview)?_\d{4}_\d{2}_\d{2}$/.test(type)

/** The function name of a tool in a namespace. A hash distinguishes names with the same first characters. */
const flatName = (namespace: string, name: string): string => {
  const flat = `${namespace}__${name}`
  if (flat.length <= NAME_MAX) return flat
  return `${flat.slice(0, NAME_MAX - 9)}_${hash("sha256", flat, "hex").slice(0, 8)}`
}

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""} ${name}`

type CustomTool = typeof ResponsesCustomTool.Type

/** The description contains the input's grammar, because a function cannot enforce one. */
const describe = ({ description, format }: CustomTool): string => {
  const grammar =
    format?.type === "grammar" ? `\`input\` must match this ${format.syntax} grammar:\n${format.definition}` : ""
  return [description, grammar].filter((text) => text != null && text !== "").join("\n\n")
}

const INPUT_SCHEMA = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as plain text." } },
  required: ["input"],
  additionalProperties: false
}

const SEARCH_SCHEMA = {
  type: "object",
  properties: { query: { type: "string" }, limit: { type: "number" } },
  required: ["query"],
  additionalProperties: false
}

/** A list of tools and its path. `replaces`: its tools replace those with the same names. */
interface ToolList {
  readonly at: string
  readonly namespace?: string
  readonly replaces: boolean
}

/** Collects the tools of a request from all places where it declares them. */
export class Toolbox {
  readonly #tools: Map<string, Tool> = new Map()
  readonly #forms: Map<string, ToolForm> = new Map()
  readonly #names: Map<string, string> = new Map()
  readonly ignored: Array<string> = []

  get tools(): ReadonlyArray<Tool> {
    return [...this.#tools.values()]
  }

  /** The forms of functions that are not declared as functions. */
  get forms(): ToolForms {
    return new Map([...this.#forms].filter(([name, form]) => form.kind !== "function" || form.name !== name))
  }

  /** Adds the tools of a list. Returns the error of the first invalid one. */
  addAll(list: ReadonlyArray<unknown>, listed: ToolList): Failure | undefined {
    for (let index = 0; index < list.length; index++) {
      const at = `${listed.at}[${index}]`
      const failed = this.#addOne(objectOf(list[index]), { ...listed, at })
      if (failed !== undefined) return failed
    }
    return this.#tools.size > TOOLS_MAX
      ? invalid(listed.at, `must contain at most ${TOOLS_MAX} tools in all`)
      : undefined
  }

  /** The function name of a tool, whether it is declared or only called in the history. */
  nameOf(namespace: string | null | undefined, name: string): string {
    return (
      this.#names.get(keyOf(namespace ?? undefined, name)) ?? (namespace == null ? name : flatName(namespace, name))
    )
  }

  get searchName(): string {
    return this.nameOf(undefined, SEARCH)
  }

  /** The function names that a reference means; none for a tool that is left out. */
  namesIn(reference: ResponsesToolReference): ReadonlyArray<string> {
    if (!("name" in reference)) return reference.type === SEARCH ? [this.searchName] : []
    if (reference.type !== "namespace") return [this.nameOf(reference.namespace, reference.name)]
    const members = [...this.#forms].filter(([, form]) => form.namespace === reference.name)
    return members.length === 0 ? [reference.name] : members.map(([name]) => name)
  }

  #addOne(tool: Readonly<Record<string, unknown>> | undefined, listed: ToolList): Failure | undefined {
    const { at, namespace } = listed
    const type = tool?.["type"]
    if (tool === undefined || typeof type !== "string") return invalid(`${at}.type`, REQUIRED)
    switch (type) {
      case "function":
        return this.#decoded(within(at, decodeFunction(tool)), ({ description, name, parameters, strict }) =>
          this.#put({ kind: "function", name }, listed, {
            description: description ?? undefined,
            parameters: parameters ?? undefined,
            strict: strict ?? undefined
          })
        )
      case "custom":
        return this.#decoded(within(at, decodeCustom(tool)), (custom) =>
          this.#put({ kind: "custom", name: custom.name }, listed, {
            description: describe(custom) || undefined,
            parameters: INPUT_SCHEMA,
            strict: undefined
          })
        )
      case "namespace":
        if (namespace !== undefined) return invalid(`${at}.type`, "must be one of function, custom")
        return this.#decoded(within(at, decodeNamespace(tool)), ({ description, name, tools }) => {
          const failed = this.addAll(tools, { ...listed, at: `${at}.tools`, namespace: name })
          if (failed === undefined && tools[0] !== undefined) this.#introduce(name, tools[0].name, description)
          return failed
        })
      case SEARCH:
        return this.#decoded(within(at, decodeSearch(tool)), (search) => this.#search(search, listed))
      default:
        if (!isHosted(type))
          return unsupportedParameter(`${at}.type`, `Tools of type ${type.slice(0, 64)} are not supported`)
        this.ignored.push(at)
        return undefined
    }
  }

  #decoded<A>(result: Result.Result<A, Failure>, use: (value: A) => Failure | undefined): Failure | undefined {
    return Result.isFailure(result) ? result.failure : use(result.success)
  }

  #search(
    { description, execution, parameters }: typeof ResponsesToolSearchTool.Type,
    listed: ToolList
  ): Failure | undefined {
    if (execution !== "client") {
      this.ignored.push(listed.at)
      return undefined
    }
    return this.#put({ kind: "search", name: SEARCH }, listed, {
      description: description ?? "Searches for further tools, which are offered from then on.",
      parameters: parameters ?? SEARCH_SCHEMA,
      strict: undefined
    })
  }

  /** The description of a namespace is put before that of its first tool. */
  #introduce(namespace: string, name: string, description: string | null | undefined): void {
    const flat = this.nameOf(namespace, name)
    const tool = this.#tools.get(flat)
    if (tool === undefined || description == null || description === "") return
    this.#tools.set(flat, { ...tool, description: [description, tool.description].filter(Boolean).join("\n\n") })
  }

  #put(form: Omit<ToolForm, "namespace">, listed: ToolList, tool: Omit<Tool, "name">): Failure | undefined {
    const { at, namespace, replaces } = listed
    const { kind, name } = form
    const key = keyOf(namespace, name)
    const known = this.#names.get(key)
    if (known !== undefined && !replaces)
      return invalid(`${at}.name`, `must be unique; another tool is also named ${name}`)
    const flat = known ?? this.#free(namespace === undefined ? name : flatName(namespace, name))
    this.#names.set(key, flat)
    this.#forms.set(flat, namespace === undefined ? { kind, name } : { kind, name, namespace })
    this.#tools.set(flat, { name: flat, ...tool })
    return undefined
  }

  /** A name that no other function has: a tool may have the same name as one in a namespace. */
  #free(name: string): string {
    let free = name
    for (let count = 2; this.#tools.has(free); count++) free = `${name.slice(0, NAME_MAX - 4)}_${count}`
    return free
  }
}
