import { assert, describe, it } from "@effect/vitest"
import { isOwnHost, isOwnOrigin } from "../../src/mcp/Hosts.ts"

const publicUrl = "https://api.example.com"

describe("isOwnHost", () => {
  it("accepts IP addresses, localhost, names of one label, and the public host", () => {
    for (const host of ["127.0.0.1:8080", "10.1.2.3", "[::1]:8080", "[2001:db8::1]", "localhost", "LOCALHOST:80"]) {
      assert.isTrue(isOwnHost(host, publicUrl), host)
    }
    for (const host of ["a.localhost:3000", "gateway:8080", "api.example.com", "API.EXAMPLE.COM:443"]) {
      assert.isTrue(isOwnHost(host, publicUrl), host)
    }
  })

  it("rejects names that an attacker can register, and invalid hosts", () => {
    for (const host of ["evil.example.org", "127.0.0.1.evil.example", "localhost.evil.example", "a b", "", undefined]) {
      assert.isFalse(isOwnHost(host, publicUrl), String(host))
    }
  })
})

describe("isOwnOrigin", () => {
  it("accepts a missing origin, localhost, the public host, and the host of the request", () => {
    for (const origin of [undefined, "http://localhost:6274", "http://127.0.0.1", "https://api.example.com"]) {
      assert.isTrue(isOwnOrigin(origin, "10.0.0.1", publicUrl), String(origin))
    }
    assert.isTrue(isOwnOrigin("http://10.0.0.1:8080", "10.0.0.1:8080", publicUrl))
  })

  it("rejects other sites and invalid origins", () => {
    for (const origin of ["https://evil.example.org", "null", "file://", "http://10.0.0.2", "localhost"]) {
      assert.isFalse(isOwnOrigin(origin, "10.0.0.1", publicUrl), origin)
    }
  })
})
