import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ConsoleSession, SessionsEnded } from "../../../../schemas/console/SignIn.ts"
import { OwnerSessionList } from "../../../../schemas/console/Sessions.ts"
import { type Page, page } from "../../../support/Console.ts"
import { postbox } from "../../../support/Postbox.ts"
import { startService } from "../../../support/Service.ts"

const decodeSession = Schema.decodeUnknownSync(ConsoleSession, { onExcessProperty: "error" })
const decodeList = Schema.decodeUnknownSync(OwnerSessionList, { onExcessProperty: "error" })
const decodeEnded = Schema.decodeUnknownSync(SessionsEnded, { onExcessProperty: "error" })

describe("the session of an owner", () => {
  it.live("shows the signed-in account until it signs out, on one browser or on all", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const service = yield* startService(mail.settings)
      const [one, other, third] = [page(service.origin), page(service.origin), page(service.origin)]
      const made = decodeSession((yield* one.signIn(mail, "ann@example.com")).body)
      yield* other.signIn(mail, "ann@example.com")
      yield* third.signIn(mail, "ann@example.com")
      const shown = yield* one.ask("GET", "/session")
      assert.deepStrictEqual(decodeSession(shown.body), made)
      assert.strictEqual(shown.headers.get("cache-control"), "no-store")
      assert.match(shown.headers.get("ratelimit-policy") ?? "", /^"console_reads"/)

      const left = { ...one.has }
      const ended = yield* one.ask("DELETE", "/session")
      assert.strictEqual(decodeEnded(ended.body).ended, 1)
      assert.match(ended.headers.getSetCookie()[0] ?? "", /^svc_session=; Max-Age=0; Path=\/api\/v1;/)
      assert.isUndefined(one.has.cookie)
      Object.assign(one.has, left)
      const late = yield* one.ask("GET", "/session")
      assert.deepStrictEqual([late.status, late.body.error.code], [401, "not_signed_in"])
      assert.strictEqual((yield* other.ask("GET", "/session")).status, 200)

      assert.strictEqual(decodeEnded((yield* other.ask("DELETE", "/sessions")).body).ended, 2)
      assert.strictEqual((yield* third.ask("GET", "/session")).status, 401)

      const lines = yield* service.audit(made.account.id)
      assert.deepStrictEqual(
        lines.map(({ actor_id, actor_type, outcome, type }) => ({ type, outcome, by: `${actor_type} ${actor_id}` })),
        [
          "session.all_ended",
          "session.ended",
          "session.created",
          "session.created",
          "session.created",
          "account.created"
        ].map((type) => ({ type, outcome: "succeeded" as const, by: `owner ${made.account.id}` }))
      )
      assert.isTrue(lines.every(({ request_id }) => request_id?.startsWith("req_")))
      assert.deepStrictEqual(lines[0]?.changes, { ended: 2 })
    }).pipe(Effect.scoped)
  )

  it.live(
    "is listed with its browser and address, ends alone or with all others, and cannot be ended by another account",
    () =>
      Effect.gen(function* () {
        const mail = yield* postbox()
        const service = yield* startService({ ...mail.settings, TRUSTED_PROXIES: "127.0.0.1" })
        const [one, other, third, eve] = [1, 2, 3, 4].map(() => page(service.origin)) as [Page, Page, Page, Page]
        const from = {
          "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0",
          "x-forwarded-for": "203.0.113.9"
        }
        const made = decodeSession((yield* one.signIn(mail, "ann@example.com", from)).body)
        yield* other.signIn(mail, "ann@example.com", { "user-agent": "node" })
        yield* third.signIn(mail, "ann@example.com")
        yield* eve.signIn(mail, "eve@example.com")
        const listed = Effect.map(one.ask("GET", "/sessions"), ({ body }) => decodeList(body).data)
        const [newest, middle, oldest, ...rest] = yield* listed
        assert.deepStrictEqual(rest, [])
        assert.deepStrictEqual(
          [newest, middle, oldest].map((session) => session?.current),
          [false, false, true]
        )
        assert.deepStrictEqual([oldest?.browser, oldest?.address], ["Firefox on Linux", "203.0.113.9"])
        assert.deepStrictEqual([middle?.browser, middle?.address], [null, "127.0.0.1"])
        assert.strictEqual(oldest!.ends_at - oldest!.seen_at, 24 * 3_600)
        const first = decodeList((yield* one.ask("GET", "/sessions?limit=2")).body)
        assert.deepStrictEqual(first.data, [newest!, middle!])
        const next = decodeList((yield* one.ask("GET", `/sessions?limit=2&cursor=${first.next_cursor}`)).body)
        assert.deepStrictEqual([next.data, next.next_cursor], [[oldest!], null])

        const foreign = yield* eve.ask("DELETE", `/sessions/${middle!.id}`)
        assert.deepStrictEqual([foreign.status, foreign.body.error.code], [404, "not_found"])
        const ended = yield* one.ask("DELETE", `/sessions/${middle!.id}`)
        assert.deepStrictEqual([decodeEnded(ended.body).ended, ended.headers.getSetCookie()], [1, []])
        assert.strictEqual((yield* other.ask("GET", "/session")).status, 401)
        assert.strictEqual((yield* one.ask("DELETE", `/sessions/${middle!.id}`)).status, 404)

        assert.strictEqual(decodeEnded((yield* one.ask("DELETE", "/sessions/others")).body).ended, 1)
        assert.strictEqual((yield* third.ask("GET", "/session")).status, 401)
        assert.strictEqual((yield* eve.ask("GET", "/session")).status, 200)
        assert.deepStrictEqual(yield* listed, [{ ...oldest!, current: true }])
        const own = yield* one.ask("DELETE", `/sessions/${oldest!.id}`)
        assert.match(own.headers.getSetCookie()[0] ?? "", /^svc_session=; Max-Age=0;/)

        const lines = yield* service.audit(made.account.id)
        assert.deepStrictEqual(
          lines.slice(0, 4).map(({ changes, code, type }) => [type, code, changes]),
          [
            ["session.ended", null, {}],
            ["session.others_ended", null, { ended: 1 }],
            ["session.ended", "not_found", {}],
            ["session.ended", null, {}]
          ]
        )
      }).pipe(Effect.scoped)
  )

  it.live("keeps its cookie when it could not be ended, and loses it when there is no session", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const service = yield* startService(mail.settings)
      const one = page(service.origin)
      yield* one.signIn(mail, "ann@example.com")
      yield* service.sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$`
      yield* service.sql`CREATE TRIGGER refuse BEFORE DELETE ON owner_session EXECUTE FUNCTION refuse()`
      for (const path of ["/session", "/sessions"]) {
        const failed = yield* one.ask("DELETE", path)
        assert.isAtLeast(failed.status, 500)
        assert.deepStrictEqual(failed.headers.getSetCookie(), [])
      }
      assert.strictEqual((yield* one.ask("GET", "/session")).status, 200)
      yield* service.sql`DROP TRIGGER refuse ON owner_session`
      yield* service.sql`DELETE FROM owner_session`
      const late = yield* one.ask("DELETE", "/session")
      assert.strictEqual(late.status, 401)
      assert.match(late.headers.getSetCookie()[0] ?? "", /^svc_session=; Max-Age=0; Path=\/api\/v1;/)
      const never = yield* one.ask("GET", "/session")
      assert.deepStrictEqual([never.status, never.headers.getSetCookie()], [401, []])
    }).pipe(Effect.scoped)
  )

  it.live("is refused when two cookies name a session, in any order", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const service = yield* startService(mail.settings)
      const [ann, eve] = [page(service.origin), page(service.origin)]
      yield* ann.signIn(mail, "ann@example.com")
      yield* eve.signIn(mail, "eve@example.com")
      const [own, planted] = [ann.has.cookie, eve.has.cookie]
      for (const cookie of [`${planted}; ${own}`, `${own}; a=b; ${planted}`, `${own}; ${own}`]) {
        const shown = yield* ann.ask("GET", "/session", undefined, { cookie })
        assert.deepStrictEqual([shown.status, shown.body.error.code], [401, "not_signed_in"], cookie)
        assert.match(shown.headers.getSetCookie()[0] ?? "", /^svc_session=; Max-Age=0;/)
      }
      assert.strictEqual((yield* ann.ask("GET", "/session", undefined, { cookie: `a=b; ${own}` })).status, 200)
    }).pipe(Effect.scoped)
  )
})
