/** Reads the doc comments of `schemas/`, which are the descriptions of the published contract. */
import { dirname, join, normalize } from "node:path"
import { parseAst } from "rolldown/parseAst"
import { filesBelow, textOf } from "./Sources.ts"

interface Node {
  readonly type: string
  readonly start: number
  readonly [member: string]: unknown
}

/** A file of `schemas/`: its declarations and its imports, by their names in the file. */
interface File {
  readonly path: string
  readonly text: string
  readonly program: Node
  readonly declarations: ReadonlyMap<string, Declaration>
  readonly imports: ReadonlyMap<string, { readonly path: string; readonly name: string }>
}

/** A constant or a class of a file. */
interface Declaration {
  readonly file: () => File
  readonly doc: string | undefined
  /** The value of a constant, or the expression that a class extends. */
  readonly value: Node
  /** For a constant that takes one member of a value apart. */
  readonly member?: string
  /** For a constant that takes all other members of a value. */
  readonly omits?: ReadonlyArray<string>
}

/** The descriptions of a value's members by their paths, such as `image_url.detail`. */
type Members = ReadonlyMap<string, string>

const none: Members = new Map()

const isNode = (value: unknown): value is Node => typeof (value as { type?: unknown } | null)?.type === "string"
const nodesIn = (value: unknown): ReadonlyArray<Node> => (Array.isArray(value) ? value.filter(isNode) : [])
const nodeIn = (node: Node, member: string): Node => node[member] as Node

/** The text of a comment on one line. */
const sentenceOf = (comment: string): string =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join(" ")
    .trim()

/** The doc comment that ends right before a place in a text. */
const docBefore = (text: string, index: number): string | undefined => {
  const before = text.slice(0, index).trimEnd()
  return before.endsWith("*/") ? sentenceOf(before.slice(before.lastIndexOf("/**") + 3, -2)) : undefined
}

/** The name of an identifier, or the text of a literal. */
const nameOf = (node: Node | undefined): string => String(node?.["name"] ?? node?.["value"] ?? "")

type Named = readonly [name: string, declaration: Declaration]

const declaredIn = (statement: Node, text: string, file: () => File): ReadonlyArray<Named> => {
  const doc = docBefore(text, statement.start)
  const declaration = statement.type === "ExportNamedDeclaration" ? statement["declaration"] : statement
  if (!isNode(declaration)) return []
  if (declaration.type === "ClassDeclaration" && isNode(declaration["superClass"])) {
    return [[nameOf(nodeIn(declaration, "id")), { file, doc, value: declaration["superClass"] }]]
  }
  if (declaration.type !== "VariableDeclaration") return []
  return nodesIn(declaration["declarations"]).flatMap((one): ReadonlyArray<Named> => {
    const [id, value] = [nodeIn(one, "id"), one["init"]]
    if (!isNode(value)) return []
    if (id.type !== "ObjectPattern") return [[nameOf(id), { file, doc, value }]]
    const taken = nodesIn(id["properties"])
    const names = taken.filter(({ type }) => type === "Property").map((property) => nameOf(nodeIn(property, "key")))
    return taken.map((property): Named =>
      property.type === "Property"
        ? [nameOf(nodeIn(property, "value")), { file, doc, value, member: nameOf(nodeIn(property, "key")) }]
        : [nameOf(nodeIn(property, "argument")), { file, doc, value, omits: names }]
    )
  })
}

const fileOf = (path: string): File => {
  const text = textOf(path)
  const program = parseAst(text, { lang: "ts" }, path) as unknown as Node
  const statements = nodesIn(program["body"])
  const file: File = {
    path,
    text,
    program,
    declarations: new Map(statements.flatMap((statement) => declaredIn(statement, text, () => file))),
    imports: new Map(
      statements
        .filter(({ type }) => type === "ImportDeclaration")
        .flatMap((statement) =>
          nodesIn(statement["specifiers"]).map((one) => {
            const from = normalize(join(dirname(path), nameOf(nodeIn(statement, "source"))))
            return [nameOf(nodeIn(one, "local")), { path: from, name: nameOf(one["imported"] as Node) }] as const
          })
        )
    )
  }
  return file
}

/** Methods of a schema that leave its members as they are. */
const KEEPING = new Set(["annotate", "annotateMerge", "check", "pipe"])

/** The schema before a call of such a method, and the call's arguments; undefined for any other expression. */
const keptBy = (node: Node) => {
  const callee = node.type === "CallExpression" ? nodeIn(node, "callee") : undefined
  if (callee?.type !== "MemberExpression" || !KEEPING.has(nameOf(nodeIn(callee, "property")))) return undefined
  return { schema: nodeIn(callee, "object"), arguments: nodesIn(node["arguments"]) }
}

/** The value of a member of an object literal. */
const valueIn = (object: Node | undefined, name: string): Node | undefined =>
  nodesIn(object?.["properties"])
    .filter(({ type }) => type === "Property")
    .find((property) => nameOf(nodeIn(property, "key")) === name)?.["value"] as Node | undefined

/** The name under which a schema is published: its identifier, or for the class of an error that of its encoded form. */
const schemaName = (node: Node): string | undefined => {
  const kept = keptBy(node)
  if (kept !== undefined) {
    const identifier = valueIn(kept.arguments[0], "identifier")
    return identifier === undefined ? schemaName(kept.schema) : nameOf(identifier)
  }
  const inner = node.type === "CallExpression" ? nodeIn(node, "callee") : undefined
  const isError = inner?.type === "CallExpression" && nameOf(nodeIn(nodeIn(inner, "callee"), "property")) === "Error"
  return isError ? `${nameOf(nodesIn(inner["arguments"])[0])}Encoded` : undefined
}

/** The name of a group of endpoints. */
const groupName = (node: Node): string | undefined => {
  if (node.type === "MemberExpression") return groupName(nodeIn(node, "object"))
  if (node.type !== "CallExpression") return undefined
  const callee = nodeIn(node, "callee")
  return nameOf(callee["object"] as Node) === "HttpApiGroup" ? nameOf(nodesIn(node["arguments"])[0]) : groupName(callee)
}

/** Finds the descriptions of the members of an expression. */
class Reader {
  readonly #files: ReadonlyMap<string, File>

  constructor(files: ReadonlyArray<File>) {
    this.#files = new Map(files.map((file) => [file.path, file]))
  }

  /** The members of an expression. Those of a schema with a name are described there, unless it is meant as a whole. */
  members(node: Node, file: File, whole = true): Members {
    switch (node.type) {
      case "TSAsExpression":
        return this.members(nodeIn(node, "expression"), file, whole)
      case "ObjectExpression":
        return this.#ofObject(node, file)
      case "ArrayExpression":
        return this.#ofAll(nodesIn(node["elements"]), file)
      case "SpreadElement":
        return this.members(nodeIn(node, "argument"), file, whole)
      case "Identifier": {
        const declaration = this.#resolve(nameOf(node), file)
        const named = declaration === undefined || (!whole && schemaName(declaration.value) !== undefined)
        return named ? none : this.#ofDeclaration(declaration)
      }
      case "MemberExpression": {
        const members = this.members(nodeIn(node, "object"), file)
        const name = nameOf(nodeIn(node, "property"))
        return name === "fields" ? members : below(name, members)
      }
      case "CallExpression":
        return this.#ofCall(node, file, whole)
      default:
        return none
    }
  }

  /** The properties of an object literal, or of the constant that is one. */
  properties(node: Node | undefined, file: File): ReadonlyMap<string, { readonly node: Node; readonly file: File }> {
    if (node?.type === "TSAsExpression") return this.properties(nodeIn(node, "expression"), file)
    if (node?.type === "Identifier") {
      const declaration = this.#resolve(nameOf(node), file)
      return this.properties(declaration?.value, declaration?.file() ?? file)
    }
    return new Map(
      nodesIn(node?.["properties"]).flatMap((one) =>
        one.type === "Property"
          ? [[nameOf(nodeIn(one, "key")), { node: nodeIn(one, "value"), file }] as const]
          : [...this.properties(nodeIn(one, "argument"), file)]
      )
    )
  }

  #resolve(name: string, file: File): Declaration | undefined {
    const imported = file.imports.get(name)
    if (imported === undefined) return file.declarations.get(name)
    return this.#files.get(imported.path)?.declarations.get(imported.name)
  }

  #ofDeclaration({ file, member, omits = [], value }: Declaration): Members {
    const members = this.members(value, file())
    return member === undefined ? without(omits, members) : below(member, members)
  }

  #ofObject(node: Node, file: File): Members {
    const members = new Map<string, string>()
    for (const property of nodesIn(node["properties"])) {
      if (property.type !== "Property") {
        for (const [path, doc] of this.members(property, file)) members.set(path, doc)
        continue
      }
      const [name, value] = [nameOf(nodeIn(property, "key")), nodeIn(property, "value")]
      // A member replaces one of the same name from an earlier spread.
      for (const path of members.keys()) if (path === name || path.startsWith(`${name}.`)) members.delete(path)
      const doc = docBefore(file.text, property.start) ?? this.#docOf(value, file)
      if (doc !== undefined) members.set(name, doc)
      for (const [path, inner] of this.members(value, file, false)) members.set(`${name}.${path}`, inner)
    }
    return members
  }

  /** The members of all expressions. Where two describe a member differently, the later one has its tag before the path. */
  #ofAll(nodes: ReadonlyArray<Node>, file: File): Members {
    const all = new Map<string, string>()
    for (const node of nodes) {
      for (const [path, doc] of this.members(node, file, false)) {
        const before = all.get(path)
        if (before === undefined) all.set(path, doc)
        else if (before !== doc) all.set(`(${this.#tagOf(node, file)}).${path}`, doc)
      }
    }
    return all
  }

  /** The text that distinguishes an object of a union: its role or type, or the first argument of the function that makes it. */
  #tagOf(node: Node, file: File): string {
    if (node.type === "Identifier") {
      const declaration = this.#resolve(nameOf(node), file)
      return declaration === undefined ? "" : this.#tagOf(declaration.value, declaration.file())
    }
    const [argument] = nodesIn(node["arguments"])
    const literal = valueIn(argument, "role") ?? valueIn(argument, "type")
    return nameOf(literal === undefined ? argument : nodesIn(literal["arguments"])[0])
  }

  #ofCall(node: Node, file: File, whole: boolean): Members {
    const kept = keptBy(node)
    if (kept !== undefined) {
      return !whole && schemaName(node) !== undefined ? none : this.members(kept.schema, file, whole)
    }
    const [callee, all] = [nodeIn(node, "callee"), nodesIn(node["arguments"])]
    const name = nameOf(callee["property"] as Node)
    if (name === "omit") return without(nodesIn(all[1]?.["elements"]).map(nameOf), this.members(all[0]!, file))
    if (name === "Struct" || callee.type === "CallExpression") return this.members(all[0]!, file)
    return new Map([...this.#ofFunction(callee, file), ...this.#ofAll(all, file)])
  }

  /** The members that a function of `schemas/` adds to its arguments. */
  #ofFunction(callee: Node, file: File): Members {
    const made = callee.type === "Identifier" ? this.#resolve(nameOf(callee), file) : undefined
    return made?.value.type === "ArrowFunctionExpression" ? this.members(nodeIn(made.value, "body"), made.file()) : none
  }

  /**
   * The doc comment of the constant, or of the member of one, that an expression stands for, or makes optional. The constants of
   * `Bounds.ts` and `Ids.ts` say what a value is, and not what a field means.
   */
  #docOf(node: Node, file: File): string | undefined {
    if (node.type === "Identifier") {
      const declaration = this.#resolve(nameOf(node), file)
      if (declaration === undefined || schemaName(declaration.value) !== undefined) return undefined
      if (/^schemas\/(?:Bounds|Ids)\.ts$/.test(declaration.file().path)) return undefined
      const { doc, member, value } = declaration
      return member === undefined ? doc : this.members(value, declaration.file()).get(member)
    }
    if (node.type === "MemberExpression") {
      return this.members(nodeIn(node, "object"), file).get(nameOf(nodeIn(node, "property")))
    }
    if (node.type !== "CallExpression") return undefined
    const kept = keptBy(node)
    if (kept !== undefined) return this.#docOf(kept.schema, file)
    const [argument, ...others] = nodesIn(node["arguments"])
    const makesOptional = /^(?:optional|optionalKey|NullOr|orNull)$/.test(
      nameOf((nodeIn(node, "callee")["property"] ?? node["callee"]) as Node)
    )
    return makesOptional && argument !== undefined && others.length === 0 ? this.#docOf(argument, file) : undefined
  }
}

const below = (name: string, members: Members): Members =>
  new Map(
    [...members]
      .filter(([path]) => path.startsWith(`${name}.`))
      .map(([path, doc]) => [path.slice(name.length + 1), doc] as const)
  )

const without = (names: ReadonlyArray<string>, members: Members): Members =>
  new Map([...members].filter(([path]) => !names.includes(path.split(".", 1)[0]!)))

/** Every call of an expression and of the expressions within it. */
const callsIn = (node: Node): ReadonlyArray<Node> => [
  ...(node.type === "CallExpression" ? [node] : []),
  ...Object.values(node).flat().filter(isNode).flatMap(callsIn)
]

/** The descriptions of the parameters of a file's endpoints, by the method, the path and the name. */
const parametersIn = (file: File, reader: Reader): ReadonlyArray<readonly [key: string, doc: string]> =>
  callsIn(file.program).flatMap((call) => {
    const callee = nodeIn(call, "callee")
    if (nameOf(callee["object"] as Node) !== "HttpApiEndpoint") return []
    const [, path, options] = nodesIn(call["arguments"])
    const properties = reader.properties(options, file)
    const operation = `${nameOf(nodeIn(callee, "property")).toUpperCase()} ${nameOf(path).replace(/:(\w+)/g, "{$1}")}`
    return ["params", "query", "headers"].flatMap((place) => {
      const found = properties.get(place)
      const members = found === undefined ? none : reader.members(found.node, found.file)
      return [...members].map(([name, doc]) => [`${operation} ${name}`, doc] as const)
    })
  })

/**
 * Every description: of a schema by its published name, of a member by that name and its path (`ChatImagePart.image_url.detail`), of a
 * group by `tag:` and its name, and of a parameter by its operation and its name (`GET /requests limit`).
 */
export const descriptions = (): Readonly<Record<string, string>> => {
  const files = filesBelow("schemas")
    .filter((path) => path.endsWith(".ts"))
    .map(fileOf)
  const reader = new Reader(files)
  const ofFile = (file: File) => [
    ...[...file.declarations.values()].flatMap(({ doc, value }) => {
      const name = schemaName(value)
      const group = name === undefined ? groupName(value) : undefined
      const whole = doc === undefined ? [] : [doc]
      if (name === undefined)
        return whole.flatMap((text) => (group === undefined ? [] : [[`tag:${group}`, text] as const]))
      const members = [...reader.members(value, file)].map(([path, text]) => [`${name}.${path}`, text] as const)
      return [...whole.map((text) => [name, text] as const), ...members]
    }),
    ...parametersIn(file, reader)
  ]
  return Object.fromEntries(files.flatMap(ofFile))
}

/** The text of `descriptions.json`. */
export const descriptionsText = (): string => `${JSON.stringify(descriptions(), null, 2)}\n`
