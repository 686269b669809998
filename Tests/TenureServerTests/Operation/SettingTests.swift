import Foundation
import Testing

@testable import TenureServer

@Suite struct settings {
    @Test func `configuration.md has the generated table of all settings`() throws {
        let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Docs")
        let text = try String(contentsOf: docs.appendingPathComponent("configuration.md"), encoding: .utf8)
        let table = ([Setting.tableHead] + Setting.all.map(\.row)).joined(separator: "\n")
        #expect(text.contains("\n" + table + "\n\n"), "Docs/configuration.md should contain\n\(table)")
    }

    @Test func `settings have unique names`() throws {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        #expect(Set(Setting.all.map(\.flag)).count == Setting.all.count)
        #expect(Set(Setting.all.map(\.variable)).count == Setting.all.count)
        #expect(Setting.adminKeyFile.flag == "--admin-key-file")
        #expect(Setting.adminKeyFile.variable == "TENURE_ADMIN_KEY_FILE")
        #expect(try Setting.named("tls.certificate").variable == "TENURE_TLS_CERTIFICATE")
        #expect(Setting("appStore.issuerID", .flag, "").flag == "--app-store-issuer-id")
    }

    @Test func `each setting's default is a valid value of the setting`() {
        for setting in Setting.all {
            guard let fallback = setting.fallback else { continue }
            for word in setting.kind.isList ? fallback.components(separatedBy: ", ") : [fallback] {
                #expect(setting.kind.objection(to: word) == nil, "\(setting.name)")
            }
        }
    }

    @Test func `every setting except the mappings sets a property of the configuration`() {
        #expect(Setting.all.filter { $0.apply == nil }.allSatisfy { $0.kind == .structure })
    }

    @Test func `the help of tenure serve lists all settings, in lines of at most 80 characters`() {
        let help = Setting.help()
        for setting in Setting.configurable where setting.kind != .structure {
            #expect(help.contains("  \(setting.flag)"))
            #expect(help.contains(setting.variable), "\(setting.name)")
        }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func `settings of the command line override the environment, which overrides the file`() throws {
        var values = SettingValues()
        #expect(try #require(ServeOptions(values)).configuration.port == 8080)
        for (name, text) in [("port", "1"), ("host", "a"), ("logLevel", "debug")] {
            values.set(try Setting.named(name), to: [text], at: "file")
        }
        let unknown = values.read(environment: ["TENURE_PORT": "2", "TENURE_HOST": "b", "PORT": "9"])
        try values.read(arguments: ["--port", "3"])
        #expect(unknown.isEmpty && values.mistakes.isEmpty)
        let options = try #require(ServeOptions(values))
        #expect(options.configuration.port == 3)
        #expect(options.configuration.host == "b")
        #expect(options.logLevel == "debug")
    }

    @Test func `unknown TENURE_ variables in the environment are reported`() {
        var values = SettingValues()
        let unknown = values.read(environment: ["TENURE_PROT": "1", "TENURE_CONFIG": "x", "TENURE": "y"])
        #expect(unknown.count == 1)
        #expect(unknown.first?.contains("`TENURE_PROT`") == true)
    }

    @Test func `all mistakes in settings are reported, with their places`() throws {
        var values = SettingValues()
        _ = values.read(environment: [
            "TENURE_PORT": "70000", "TENURE_LOG_LEVEL": "loud", "TENURE_ENVIRONMENTS": "production,moon",
        ])
        try values.read(arguments: ["--behind-proxy=", "--metrics", "some"])
        #expect(values.mistakes.count == 5, "\(values.mistakes)")
        #expect(values.mistakes.contains { $0.hasPrefix("$TENURE_PORT: `port` ") && $0.contains("`70000`") })
        #expect(values.mistakes.contains { $0.contains("moon") })
        // An invalid value leaves the previous one.
        #expect(try #require(ServeOptions(values)).configuration.port == 8080)
    }

    @Test func `settings that are lists may be repeated`() throws {
        var values = SettingValues()
        _ = values.read(environment: ["TENURE_TRUST": "a.pem, sandbox=b.pem"])
        #expect(values.list(.trust) == ["a.pem", "sandbox=b.pem"])
        try values.read(arguments: ["--trust", "c.pem", "--trust=d.pem"])
        #expect(values.list(.trust) == ["c.pem", "d.pem"])
    }

    @Test(arguments: [60, 78, 100])
    func `the help of settings fills its lines up to the width, and says which settings may be repeated`(width: Int)
        throws
    {
        var help = Setting.help(width: width).split(separator: "\n", omittingEmptySubsequences: false)[...]
        for setting in Setting.all where setting.kind != .structure {
            let head = try #require(help.first)
            help = help.dropFirst()
            #expect(head.hasPrefix("  " + setting.flag))
            let lines = help.prefix { $0.hasPrefix("      ") }
            help = help.dropFirst(lines.count)
            let text = lines.map { $0.dropFirst(6) }.joined(separator: " ")
            #expect(text.hasPrefix(setting.summary))
            #expect(text.hasSuffix("may be repeated)") == setting.kind.isList, "\(text)")
            for line in lines { #expect(line.count <= width, "\(line)") }
            for (line, next) in zip(lines, lines.dropFirst()) {
                let word = next.dropFirst(6).prefix { $0 != " " }
                #expect(line.count + 1 + word.count > width, "\(line)")
            }
        }
        #expect(help.isEmpty)
    }

    @Test(arguments: [["--prot", "1"], ["port"], ["--port"], ["--port", "--host"], ["-p", "1"], ["--"]])
    func `invalid options on the command line are usage errors`(arguments: [String]) {
        #expect(throws: SettingValues.UsageError.self) {
            var values = SettingValues()
            try values.read(arguments: arguments)
        }
    }

    @Test func `settings that are mappings can be set only in the configuration file`() {
        let structure = Setting("things", .structure, "what there is")
        #expect(structure.row == "| `things` |  |  |  | what there is |")
        #expect(structure.kind.objection(to: "x") != nil)
    }

    @Test func `file paths in the configuration file are relative to this file`() throws {
        #expect(Setting.policy.kind.resolved("policy.yaml", in: "etc") == "etc/policy.yaml")
        #expect(Setting.policy.kind.resolved("/policy.yaml", in: "etc") == "/policy.yaml")
        #expect(Setting.policy.kind.resolved("policy.yaml", in: "") == "policy.yaml")
        #expect(Setting.database.kind.resolved("postgres://db/tenure", in: "etc") == "postgres://db/tenure")
        #expect(Setting.trust.kind.resolved("sandbox=roots.pem", in: "etc") == "sandbox=etc/roots.pem")
        #expect(try Setting.named("host").kind.resolved("localhost", in: "etc") == "localhost")
    }

    @Test func `PostgreSQL options in the database setting are distinguished from paths and URLs`() {
        for options in [
            "host=db user=ada password=x", "password = 'x'", "/etc/tenure/user=ada password=x", "/etc/a=b/password=x",
            "dbname=shop",
            "host=/run/postgresql user=ada", "HOST=db", "host=/run/postgresql", "/etc/tenure/host=/run/postgresql",
            "sslrootcert=/etc/my ca.pem password=a", "sslrootcert='/etc/ca.pem password=a",
            "sslrootcert=/etc/ca.pem host=db", "sslrootcert = '/etc/my ca.pem' host=db", "user = ada dbname = shop",
            #"application_name='it\'s' dbname=shop"#, "host=db user", "host='/run/my sockets'",
            "password=a/b",
        ] { #expect(ConnectionString.matches(options), "\(options)") }
        for other in [
            "tenure.sqlite", "/data/user=1/tenure.sqlite", "/data/user=1/my database.sqlite", "a=b.sqlite", "", "=",
            "postgres://ada@db/shop?password=x",
            "postgresql://db/shop?sslmode=require",
        ] { #expect(!ConnectionString.matches(other), "\(other)") }
    }
}

extension Setting {
    fileprivate static func named(_ name: String) throws -> Setting {
        try #require(all.first { $0.name == name })
    }

    /// The setting's row of the table in `Docs/configuration.md`.
    fileprivate var row: String {
        let name = isForCommandOnly ? "" : "`\(name)`"
        let isText = kind != .structure
        let variable = !isText || isForCommandOnly && self.name != Setting.config.name ? "" : "`\(variable)`"
        return
            "| \(name) | \(variable) | \(isText ? "`\(flag)`" : "") | \(fallback.map { "`\($0)`" } ?? "") | \(summary) |"
    }

    fileprivate static let tableHead = """
        | in the file | in the environment | option | default | meaning |
        |---|---|---|---|---|
        """
}
