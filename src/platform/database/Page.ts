import { Effect } from "effect"

/** A page of a list, and the cursor of the next page; null on the last. */
export interface Page<Row, Cursor = string> {
  readonly rows: ReadonlyArray<Row>
  readonly next: Cursor | null
}

/** Returns the page of these rows, of which there is one more than `limit` when another page follows. */
export const pageBy = <Row, Cursor>(
  found: ReadonlyArray<Row>,
  limit: number,
  cursorOf: (last: Row) => Cursor
): Page<Row, Cursor> => ({
  rows: found.slice(0, limit),
  next: found.length > limit ? cursorOf(found[limit - 1]!) : null
})

/** Reads a page of rows whose IDs are the cursors. It asks for one row more than the page has, to learn whether another page follows. */
export const readPage = <Request extends { readonly limit: number }, Row extends { readonly id: string }, E, R>(
  request: Request,
  read: (request: Request) => Effect.Effect<ReadonlyArray<Row>, E, R>
): Effect.Effect<Page<Row>, E, R> =>
  Effect.map(read({ ...request, limit: request.limit + 1 }), (found) => pageBy(found, request.limit, ({ id }) => id))
