import TenureCore
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `the address of a PostgreSQL database` {
    @Test func `a PostgreSQL URL can have Tenure's options and libpq's options`() throws {
        let address = try PostgresAddress(
            "postgres://me:secret@db.example.com:5433/shop?sslmode=require&schema=calculator&connections=4")
        #expect(address.schema == "calculator")
        #expect(address.connections == 4)
        #expect(!address.allowsFsyncOff)
        #expect(address.url.revealed == "postgres://me:secret@db.example.com:5433/shop?sslmode=require")
        let several = "postgres://db/shop?sslmode=require&schema=calculator&connect_timeout=7"
        #expect(
            try PostgresAddress(several).url.revealed == "postgres://db/shop?sslmode=require&connect_timeout=7")
        #expect(try PostgresAddress("postgres://db/shop?schema=calculator").url.revealed == "postgres://db/shop")
        #expect(address.description == "postgres://db.example.com:5433/shop")
        #expect(address.fullName == "postgres://db.example.com:5433/shop?schema=calculator")
        #expect(try PostgresAddress("postgresql:///shop?connect_timeout=7").connectTimeout == 7)
        #expect(try PostgresAddress("postgres://db/shop").schema == "tenure")
        #expect(try PostgresAddress("postgres://db/shop").connections == 16)
        #expect(try PostgresAddress("postgres://db/shop?allow_fsync_off=true").allowsFsyncOff)
    }

    @Test(arguments: [
        ("postgresql:///shop", "postgres://localhost/shop"), ("postgres://me@db", "postgres://db/me"),
        ("postgres:///shop?hostaddr=10.0.0.1&port=5", "postgres://10.0.0.1:5/shop"),
        ("postgres://me:secret@one:1,two:2/shop", "postgres://one,two:1,2/shop"),
    ])
    func `the description of a PostgreSQL URL names the servers and the database`(url: String, description: String)
        throws
    {
        #expect(try PostgresAddress(url).description == description)
    }

    @Test(arguments: [
        ("db", "", "", "db"), ("db", "10.0.0.1", "5", "db:5"), ("", "10.0.0.1", "", "10.0.0.1"),
        ("", "", "5", "localhost:5"),
    ])
    func `messages name a PostgreSQL server by its name, or else by its address`(
        host: String, address: String, port: String, name: String
    ) {
        #expect(PostgresHostName(host: host, address: address, port: port).description == name)
    }

    @Test(arguments: [
        ("postgres://db/shop?schema=pg_catalog", "schema=pg_catalog"),
        ("postgres://db/shop?schema=a%22b", "isn't a valid name"),
        ("postgres://db/shop?schema=", "isn't a valid name"),
        ("postgres://db/shop?connections=0", "connections=0"),
        ("postgres://db/shop?connections=many", "connections=many"),
        ("postgres://db/shop?allow_fsync_off=perhaps", "neither `true` nor `false`"),
        ("postgres://db/shop?sslmod=require", "sslmod"),
        ("mysql://db/shop", "postgres://"), ("postgres://me:word@more@db/shop", "write `@` in a password as `%40`"),
    ])
    func `an invalid PostgreSQL URL is an error that says what is wrong with it`(url: String, part: String) throws {
        let error = #expect(throws: StoreError.self) { try PostgresAddress(url) }
        #expect(error?.description.contains(part) == true, "\(String(describing: error))")
        #expect(error?.isRetryable == false)
    }

    @Test func `several hosts of a PostgreSQL URL have one port each or one port for all, and otherwise are refused`()
        throws
    {
        func servers(_ options: [String: String]) throws -> [String] {
            try PostgresHostName.all(in: options, database: "shop").map { "\($0.host) \($0.address) \($0.port)" }
        }
        #expect(try servers(["host": "a,b", "port": "1,2"]) == ["a  1", "b  2"])
        #expect(try servers(["host": "a,b", "port": "5"]) == ["a  5", "b  5"])
        #expect(try servers(["host": "a,b", "hostaddr": "::1,::2", "port": "1,2"]) == ["a ::1 1", "b ::2 2"])
        for options in [
            ["host": "a,b", "port": "1,2,3"], ["host": "a,b,c", "port": "1,2"], ["host": "a", "port": "1,2"],
            ["host": "a,b", "hostaddr": "::1", "port": "1,2"],
        ] {
            let error = #expect(throws: StoreError.self, "\(options)") { try servers(options) }
            #expect(error?.description.contains("give one for each host") == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: [
        "postgres://me:hunter2@db/shop?nonsense=1", "postgres://me:hunter2%zz@db/shop",
        "postgres://me:hunter2?@db/shop",
        "postgres://me:hunter2/@db/shop?a=b", "postgres://db/shop?password=hunter2&nonsense=1",
        "postgres://me:hunter2@db/shop?schema=pg_x", "mysql://me:hunter2@db/shop", "postgres://me:hunter2?x=a@b:c:d",
    ])
    func `the description of a PostgreSQL URL, and errors about the URL, never contain its password`(url: String) throws
    {
        let shown = Result { try PostgresAddress(url).description }
        #expect(!"\(shown)".contains("hunter2"), "\(shown)")
    }

    @Test(arguments: [
        ("schema=\(String(repeating: "s", count: 63))", true), ("schema=\(String(repeating: "s", count: 64))", false),
        ("schema=Az09_", true), ("schema=a-b", false), ("schema=pg_tenure", false), ("connections=1", true),
        ("connections=500", true), ("connections=501", false), ("connections=-1", false),
        ("allow_fsync_off=false", true), ("allow_fsync_off=", false),
    ])
    func `a PostgreSQL URL accepts schemas of 63 letters, and 1 to 500 connections, and no more`(
        option: String, isValid: Bool
    ) {
        let address = try? PostgresAddress("postgres://db/shop?\(option)")
        #expect((address != nil) == isValid)
    }

    @Test(arguments: [
        ("", 3), ("?connect_timeout=0", 2), ("?connect_timeout=1", 2), ("?connect_timeout=20", 20),
        ("?connect_timeout=60", 20),
    ])
    func `a PostgreSQL URL limits the time for an attempt to connect to 2 to 20 seconds`(
        options: String, seconds: Int
    ) throws {
        #expect(try PostgresAddress("postgres://db/shop" + options).connectTimeout == seconds)
    }

    @Test(arguments: [
        ("postgres://me:hunter2@db/shop", true), ("postgresql://me:@db/shop", true), ("postgres://me@db/shop", false),
        ("postgres://db:5432/shop", false), ("postgres://db/shop?password=hunter2", true),
        ("postgres://db/shop?user=me&PASSWORD=hunter2", true), ("mysql://me:hunter2@db/shop", false),
        ("shop.sqlite", false),
    ])
    func `a PostgreSQL URL holds a password only after the user's name or as an option`(url: String, holds: Bool) {
        #expect(PostgresAddress.holdsPassword(url) == holds)
    }
}
