import Foundation
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `mistakes in the configuration of several apps` {
    private func app(_ name: String, _ database: String, keys: String? = nil) throws -> AppConfiguration {
        var configuration = try Calculator.configuration("/tmp/tenure-\(name)")
        configuration.databasePath = database
        configuration.keysFolder = keys
        return AppConfiguration(name: name, configuration: configuration)
    }

    @Test func `the name of an app has at most 64 characters`() throws {
        let longest = String(repeating: "a", count: 64)
        #expect(AppConfiguration.mistake(in: [try app(longest, "/tmp/one.sqlite")]) == nil)
        #expect(
            AppConfiguration.mistake(in: [try app(longest + "a", "/tmp/one.sqlite")])
                == .apps(
                    """
                    the name `\(longest)a` can't be part of a path; use up to 64 lowercase letters, digits, `-` or `_`
                    """))
        #expect(AppConfiguration.mistake(in: [try app("a-b_9", "/tmp/one.sqlite")]) == nil)
    }

    @Test func `apps with one database URL are refused, and the error doesn't contain the URL's password`() throws {
        let url = "postgres://ada:secret@db/shop"
        let apps = [try app("one", url, keys: "/tmp/one"), try app("two", url, keys: "/tmp/two")]
        #expect(
            AppConfiguration.mistake(in: apps)
                == .apps("two apps have the same database URL; use different databases"))
        let other = try app("two", url + "2", keys: "/tmp/two")
        #expect(AppConfiguration.mistake(in: [apps[0], other]) == nil)
        let sameKeys = try app("two", url + "2", keys: "/tmp/one/../one")
        let folder = URL(fileURLWithPath: "/tmp/one").resolvingSymlinksInPath().standardized.path
        #expect(
            AppConfiguration.mistake(in: [apps[0], sameKeys])
                == .apps("two apps have their keys in `\(folder)`; set `keys` to different folders"))
    }

    @Test func `apps with two names of one database file are refused`() async throws {
        try await withFolder { folder in
            for name in ["one", "two"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(name)", withIntermediateDirectories: false)
            }
            let (one, two) = ("\(folder)/one/tenure.sqlite", "\(folder)/two/tenure.sqlite")
            try Data("x".utf8).write(to: URL(fileURLWithPath: one))
            try FileManager.default.linkItem(atPath: one, toPath: two)
            #expect(
                AppConfiguration.mistake(in: [try app("one", one), try app("two", two)])
                    == .apps("`\(one)` and `\(two)` are one file (a hard link); use different databases"))
            try FileManager.default.removeItem(atPath: two)
            try Data("x".utf8).write(to: URL(fileURLWithPath: two))
            #expect(AppConfiguration.mistake(in: [try app("one", one), try app("two", two)]) == nil)
        }
    }

    @Test func `a reload is refused if the database or bundle ID of a running app, or a fixed setting, changed`()
        throws
    {
        let (one, two) = (try app("one", "/tmp/one.sqlite"), try app("two", "/tmp/two.sqlite", keys: "/tmp/two"))
        var old = try AppsConfiguration([one, two])
        old.fixedSettings = ["port": ["80"], "host": ["::"], "tls.key": ["a"]]
        #expect(old.mistakes(in: old, running: ["one", "two"]) == [])

        var moved = one
        moved.configuration.databasePath = "/tmp/other.sqlite"
        var foreign = two
        let usual = try Calculator.policy()
        foreign.configuration.policy = try Policy(
            app: Policy.App(bundleID: "com.example.notes", appleID: 1), eras: usual.eras, buildNumbers: .increasing,
            entitlements: usual.entitlements)
        var fresh = try AppsConfiguration([foreign, moved])
        fresh.fixedSettings = ["port": ["81"], "host": ["::"], "behindProxy": ["10.0.0.1"]]
        func changed(_ name: String) -> String {
            "the setting `\(name)` changed, which needs a restart; restart the service, or undo that change"
        }
        let policy = """
            the policy is for `com.example.notes`, but the database belongs to `com.example.calculator`; set `policy` to \
            a policy for the database's app
            """
        let fixed: [ServiceError] = ["behindProxy", "port", "tls.key"].map { .apps(changed($0)) }
        let ofTwo = ServiceError.app(name: "two", policy)
        let ofOne = ServiceError.app(name: "one", changed("database"))
        #expect(old.mistakes(in: fresh, running: ["one", "two"]) == fixed + [ofTwo, ofOne])
        // The database of an app that doesn't run may change.
        #expect(old.mistakes(in: fresh, running: ["two"]) == fixed + [ofTwo])
        #expect(old.mistakes(in: fresh, running: []) == fixed)
    }

    @Test func `the app without a prefix is the default app, or else the only app`() throws {
        let (one, two) = (try app("one", "/tmp/one.sqlite"), try app("two", "/tmp/two.sqlite", keys: "/tmp/two"))
        #expect(try AppsConfiguration([one]).unprefixedApp == "one")
        var both = try AppsConfiguration([one, two])
        #expect(both.unprefixedApp == nil && both.mistake == nil)
        both.defaultApp = "two"
        #expect(both.unprefixedApp == "two" && both.mistake == nil)
        both.defaultApp = "three"
        #expect(both.mistake == .apps("`default` names the unknown app `three`; use one of one, two"))
        let empty = ServiceError.apps("no app is configured; add an app below `apps`")
        #expect(throws: empty) { try AppsConfiguration([]) }
    }
}
