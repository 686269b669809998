import CommandRunner
import Foundation
import TenureServer
import Testing

@testable import TenureCLI

/// Which database a command uses, and which files it must not overwrite, if the configuration has two apps.
@Suite struct `the selection of a database` {
    private let folder: Folder
    private let config: String

    init() throws {
        folder = try Folder()
        for name in ["calculator", "notes"] {
            try folder.write(
                """
                app: { bundleID: com.example.\(name), appleID: 828838134 }
                eras: [{ name: free, model: free }]
                entitlements: { everything: { products: [com.example.\(name).everything] } }
                """, to: "\(name).yaml")
        }
        config = try folder.writeSecret(
            """
            trust: [common.pem]
            adminKeyFile: admin.key
            apps:
              calculator: { policy: calculator.yaml, database: calculator.sqlite, trust: [calculator.pem] }
              notes: { policy: notes.yaml, database: notes.sqlite, keys: elsewhere }
            """, to: "tenure.yaml")
    }

    private func path(_ name: String) -> String { folder.url(name).path }

    private func select(
        _ app: String?, database: String? = nil, environment: [String: String] = [:]
    ) throws -> DatabaseSelection {
        try DatabaseSelection(
            database: database.map { DatabaseArgument(argument: $0) }, config: config, app: app,
            environment: environment)
    }

    @Test(arguments: [("calculator", "notes"), ("notes", "calculator")])
    func `--app selects the database and the policy of one of two apps, and all files of both are protected`(
        name: String, other: String
    ) throws {
        let selection = try select(name, environment: ["TENURE_DATABASE": "environment.sqlite"])
        #expect(selection.database.text == path("\(name).sqlite") && selection.bundleID == "com.example.\(name)")
        #expect(try selection.sqlitePath(orThrow: "no file") == path("\(name).sqlite"))
        let files = Set(selection.files)
        let keys = ["keys/calculator", "elsewhere"].flatMap { folder in
            ["signing-key.json", "access-token.secret", "postgres-primary.json"].map { "\(folder)/\($0)" }
        }
        let names = ["calculator.yaml", "notes.yaml", "admin.key", "common.pem", "calculator.pem"]
        let databases = ["", "-wal", "-shm", "-journal"].map { "\(other).sqlite\($0)" }
        for protected in [config] + (keys + names + databases).map(path) {
            #expect(files.contains(protected), "\(protected)")
        }
        // The command itself writes to the selected database.
        #expect(!files.contains(path("\(name).sqlite")))
    }

    @Test func `with two apps, a database or an app must be selected, and an unknown app lists both`() throws {
        for (app, words) in [
            (nil, "the configuration has several apps; select one with `--app` (calculator, notes)"),
            ("shop", "there is no app `shop` in the configuration; the apps are calculator, notes"),
        ] as [(String?, String)] {
            let error = #expect(throws: CommandError.self) { try select(app) }
            #expect(error?.description == words)
        }
        let copy = try select(nil, database: path("copy.sqlite"))
        #expect(copy.database.text == path("copy.sqlite") && copy.bundleID == nil)
        #expect(copy.files.contains(path("notes.sqlite")) && copy.files.contains(path("calculator.sqlite")))
        let ofApp = try select("notes", database: path("copy.sqlite"))
        #expect(ofApp.database.text == path("copy.sqlite") && ofApp.bundleID == "com.example.notes")
        #expect(ofApp.files.contains(path("notes.sqlite")))
    }

    @Test func `without a configuration, the environment names the database, and an option overrides it`() throws {
        func database(_ text: String?, _ environment: [String: String]) throws -> String {
            try DatabaseSelection(
                database: text.map { DatabaseArgument(argument: $0) }, config: nil, app: nil, environment: environment
            ).database.text
        }
        let environment = ["TENURE_DATABASE": "environment.sqlite"]
        #expect(try database(nil, [:]) == "tenure.sqlite")
        #expect(try database(nil, environment) == "environment.sqlite")
        #expect(try database("option.sqlite", environment) == "option.sqlite")
        let error = #expect(throws: CommandError.self) {
            try DatabaseSelection(database: nil, config: nil, app: "notes", environment: environment)
        }
        #expect(error?.description == "`--app` is for a configuration file with several apps; leave it out")
        #expect(throws: CommandError.self) { try database(nil, ["TENURE_PORT": "many"]) }
    }

    @Test func `a database has the files of SQLite or a URL, and its name hides the password`() throws {
        let file = DatabaseArgument(argument: "var/a.sqlite")
        #expect(file.files == ["", "-wal", "-shm", "-journal"].map { "var/a.sqlite\($0)" })
        #expect(file.name == "var/a.sqlite" && file.defaultValueDescription == "var/a.sqlite" && !file.isPostgres)
        #expect(DatabaseArgument(argument: "/var/x/../a.sqlite").fullName == "/var/a.sqlite")
        for scheme in ["postgres", "postgresql"] {
            let url = DatabaseArgument(argument: "\(scheme)://ada:pa55@127.0.0.1:4711/shop")
            #expect(url.isPostgres && url.files.isEmpty && url.text.contains("pa55"))
            for name in [url.name, url.fullName, url.defaultValueDescription] {
                #expect(name.contains("127.0.0.1:4711/shop") && !name.contains("pa55"), "\(name)")
            }
        }
        let words = "the database is a URL of an unknown kind; write `postgres://…`, or the path of an SQLite file"
        for text in ["mysql://ada:pa55@db/x", "Postgres://ada:pa55@db/x"] {
            let unknown = DatabaseArgument(argument: text)
            #expect(unknown.name == "the database" && !unknown.isPostgres)
            let error = #expect(throws: CommandError.self) { try unknown.checked() }
            #expect(error?.description == words)
        }
        let list = DatabaseArgument(argument: "host=db user=ada password=pa55 dbname=x")
        #expect(list.name == "the database")
        #expect(throws: CommandError.self) { try list.checked() }
        let error = #expect(throws: CommandError.self) {
            try select("notes", database: "postgres://ada@db/x").sqlitePath(orThrow: "only SQLite")
        }
        #expect(error?.description == "only SQLite")
    }

    @Test func `two paths of one file are the same database, and two URLs only if their texts are equal`() throws {
        let file = try folder.write("x", to: "a.sqlite")
        let (other, link) = (try folder.write("x", to: "b.sqlite"), path("link"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        func isSame(_ one: String, _ other: String) -> Bool {
            DatabaseArgument(argument: one).isSame(as: DatabaseArgument(argument: other))
        }
        #expect(isSame(file, link) && isSame(link, folder.path + "/./a.sqlite") && isSame("none", "none"))
        #expect(!isSame(file, other) && !isSame(file, path("none")) && !isSame("none", "none-2"))
        #expect(isSame("postgres://db/x", "postgres://db/x") && !isSame("postgres://db/x", "postgres://db/y"))
        #expect(!isSame(file, "postgres://db/x"))
    }
}
