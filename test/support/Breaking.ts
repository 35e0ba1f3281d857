/** Compares two OpenAPI documents, and finds the changes that break clients of the older one. */

type Json = Readonly<Record<string, unknown>>

/** The compared parts of a document. */
export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

const TEXTS = new Set(["description", "summary", "examples", "title", "tags"])

/** Returns a document without the parts that no program depends on: texts, examples, tags and servers. */
export const contractOf = (document: Contract): Contract => {
  const bare = (value: unknown, isNames: boolean): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) return value.map((item) => bare(item, false))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => isNames || !(TEXTS.has(name) || name.startsWith("x-")))
        .map(([name, member]) => [name, bare(member, !isNames && (name === "properties" || name === "schemas"))])
    )
  }
  const { components, paths } = document
  return bare({ paths, components: { schemas: components.schemas } }, false) as Contract
}

/** The service reads requests, so a newer one may accept more. Clients read answers, so a newer one may contain more. */
type Direction = "request" | "answer"

interface Sides {
  readonly before: Contract
  readonly after: Contract
}

const namesOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.map((one) => JSON.stringify(one)) : []

const recordOf = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {})

const resolved = (contract: Contract, schema: Json): Json => {
  const name =
    String(schema["$ref"] ?? "")
      .split("/")
      .at(-1) ?? ""
  return contract.components.schemas[name] ?? schema
}

const typesOf = (schema: Json): ReadonlyArray<string> => [schema["type"] ?? []].flat().map(String)

const missing = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<string> =>
  before.filter((one) => !after.includes(one))

/** The breaking changes between two schemas. `seen` ends the descent at schemas that contain themselves. */
const schemaBreaks = (
  sides: Sides,
  where: string,
  [from, to]: readonly [Json, Json],
  direction: Direction,
  seen: ReadonlySet<string>
): ReadonlyArray<string> => {
  const name = String(from["$ref"] ?? "")
  if (seen.has(name)) return []
  const within = name === "" ? seen : new Set([...seen, name])
  const [before, after] = [resolved(sides.before, from), resolved(sides.after, to)]
  const next = (path: string, one: unknown, other: unknown) =>
    schemaBreaks(sides, path, [recordOf(one), recordOf(other)], direction, within)
  const [was, is] = [recordOf(before["properties"]), recordOf(after["properties"])]
  const [required, requires] = [namesOf(before["required"]), namesOf(after["required"])]
  const types =
    before["type"] !== undefined && after["type"] !== undefined ? missing(typesOf(before), typesOf(after)) : []
  const values = after["enum"] === undefined ? [] : missing(namesOf(before["enum"]), namesOf(after["enum"]))
  const branches = before["anyOf"] === undefined ? [] : branchBreaks(before["anyOf"], after["anyOf"], next, where)
  return [
    ...types.map((type) => `${where} is no longer a ${type}`),
    ...values.map((value) => `${where} no longer has the value ${value}`),
    ...Object.keys(was)
      .filter((member) => !Object.hasOwn(is, member))
      .map((member) => `${where}.${member} was removed`),
    ...(direction === "request"
      ? missing(requires, required).map((member) => `${where} newly requires ${member}`)
      : missing(required, requires).map((member) => `${where} may now lack ${member}`)),
    ...Object.keys(was)
      .filter((member) => Object.hasOwn(is, member))
      .flatMap((member) => next(`${where}.${member}`, was[member], is[member])),
    ...(before["items"] === undefined || after["items"] === undefined
      ? []
      : next(`${where}[]`, before["items"], after["items"])),
    ...branches
  ]
}

/** Pairs the branches of two unions: by reference, or else by their type and the values of their `type` member. */
const branchBreaks = (
  before: unknown,
  after: unknown,
  next: (path: string, one: unknown, other: unknown) => ReadonlyArray<string>,
  where: string
): ReadonlyArray<string> => {
  const [was, is] = [before as ReadonlyArray<Json>, Array.isArray(after) ? (after as ReadonlyArray<Json>) : []]
  return was.flatMap((branch) => {
    const reference = branch["$ref"]
    const kind = reference ?? JSON.stringify([branch["type"], namesOf(recordOf(branch["properties"])["type"])])
    const same = is.filter((one) =>
      reference === undefined
        ? one["$ref"] === undefined &&
          JSON.stringify([one["type"], namesOf(recordOf(one["properties"])["type"])]) === kind
        : one["$ref"] === reference
    )
    if (same.length === 0) return [`${where} no longer accepts ${String(kind)}`]
    const faults = same.map((one) => next(where, branch, one))
    return faults.find((found) => found.length === 0) ?? faults[0]!
  })
}

const contentBreaks = (
  sides: Sides,
  where: string,
  [before, after]: readonly [unknown, unknown],
  direction: Direction
): ReadonlyArray<string> => {
  const [was, is] = [recordOf(recordOf(before)["content"]), recordOf(recordOf(after)["content"])]
  return Object.entries(was).flatMap(([type, content]) => {
    if (!Object.hasOwn(is, type)) return [`${where} no longer has ${type}`]
    const schemas = [recordOf(recordOf(content)["schema"]), recordOf(recordOf(is[type])["schema"])] as const
    return schemaBreaks(sides, where, schemas, direction, new Set())
  })
}

const parametersOf = (operation: Json): ReadonlyMap<string, Json> =>
  new Map(
    ((operation["parameters"] ?? []) as ReadonlyArray<Json>).map((one) => [
      `${String(one["in"])} ${String(one["name"])}`,
      one
    ])
  )

const parameterBreaks = (sides: Sides, where: string, before: Json, after: Json): ReadonlyArray<string> => {
  const [was, is] = [parametersOf(before), parametersOf(after)]
  return [
    ...[...was].flatMap(([name, parameter]) => {
      const now = is.get(name)
      if (now === undefined) return [`${where}: ${name} was removed`]
      const schemas = [recordOf(parameter["schema"]), recordOf(now["schema"])] as const
      return schemaBreaks(sides, `${where}: ${name}`, schemas, "request", new Set())
    }),
    ...[...is].flatMap(([name, { required }]) =>
      required === true && was.get(name)?.["required"] !== true ? [`${where} newly requires ${name}`] : []
    )
  ]
}

/** Returns a sentence for each change that can break a client of the older contract. */
export const breaks = (before: Contract, after: Contract): ReadonlyArray<string> => {
  const sides = { before, after }
  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, was]) => {
      const where = `${method.toUpperCase()} ${path}`
      const is = after.paths[path]?.[method]
      if (is === undefined) return [`${where} was removed`]
      const [answers, answer] = [recordOf(was["responses"]), recordOf(is["responses"])]
      return [
        ...(was["operationId"] === is["operationId"] ? [] : [`${where} has another operationId`]),
        ...(was["requestBody"] === undefined && is["requestBody"] !== undefined
          ? [`${where} newly requires a body`]
          : []),
        ...parameterBreaks(sides, where, was, is),
        ...contentBreaks(sides, `${where} request`, [was["requestBody"], is["requestBody"]], "request"),
        ...Object.keys(answers).flatMap((status) =>
          Object.hasOwn(answer, status)
            ? contentBreaks(sides, `${where} ${status}`, [answers[status], answer[status]], "answer")
            : [`${where} no longer answers ${status}`]
        )
      ]
    })
  )
}
