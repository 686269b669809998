import CommandRunner
import Foundation
import Logging
import TenureCore
import Testing

@testable import TenureCLI
@testable import TenurePostgres
@testable import TenureServer

/// The file that keeps a restarted service from writing to an old PostgreSQL primary.
@Suite struct `the file with the last PostgreSQL primary` {
    private let folder: Folder
    private let lines = Locked<[String]>([])
    private var keys: String { folder.url("keys").path }

    init() throws { folder = try Folder() }

    private var logger: Logger {
        Logger(label: "tests") { [lines] _ in
            JSONLogHandler { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        }
    }

    private func makeKeys() throws {
        try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: false)
    }

    @Test func `a service writes the file for its owner only, once the folder exists; a command only reads it`() throws
    {
        let (service, command) = (PrimaryFile(in: keys, writer: logger).storage, PrimaryFile(in: keys).storage)
        try service.write(KnownPrimary(system: "7", timeline: 1))
        #expect(!FileManager.default.fileExists(atPath: keys))
        #expect(try service.read() == nil)
        try makeKeys()
        try command.write(KnownPrimary(system: "7", timeline: 1))
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys).isEmpty)
        for timeline: UInt32 in [2, 3] {
            try service.write(KnownPrimary(system: "7", timeline: timeline))
            #expect(try command.read() == KnownPrimary(system: "7", timeline: timeline))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys) == ["postgres-primary.json"])
        let path = keys + "/postgres-primary.json"
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try folder.text("keys/postgres-primary.json").hasSuffix("}\n"))
        #expect(lines.withLock { $0 }.isEmpty)
    }

    @Test func `a file that is damaged or has more than 4,096 bytes is an error, and not a missing file`() throws {
        try makeKeys()
        let json = #"{"system":"7","timeline":2}"#
        let storage = PrimaryFile(in: keys).storage
        for (size, isValid) in [(4096, true), (4097, false)] {
            let text = json + String(repeating: " ", count: size - json.utf8.count)
            try folder.writeSecret(text, to: "keys/postgres-primary.json")
            if isValid {
                #expect(try storage.read() == KnownPrimary(system: "7", timeline: 2))
            } else {
                #expect(throws: ServiceError.self) { try storage.read() }
            }
        }
        for text in ["", "{", #"{"system":"7"}"#] {
            try folder.writeSecret(text, to: "keys/postgres-primary.json")
            #expect(throws: DecodingError.self) { try storage.read() }
        }
    }

    @Test func `a service logs that the file can't be written, and continues`() throws {
        // A folder has the file's name.
        try FileManager.default.createDirectory(
            atPath: keys + "/postgres-primary.json", withIntermediateDirectories: true)
        try PrimaryFile(in: keys, writer: logger).storage.write(KnownPrimary(system: "7", timeline: 2))
        let logged = lines.withLock { $0 }
        try #require(logged.count == 1, "\(logged)")
        #expect(logged[0].contains("after a restart, an old PostgreSQL primary might be used: "))
        #expect(logged[0].contains("; make the folder writable") && logged[0].contains("warning"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys) == ["postgres-primary.json"])
    }
}
