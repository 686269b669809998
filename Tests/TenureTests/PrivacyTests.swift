import CommandRunner
import Foundation
import Testing

/// The modules that become part of an app.
private let clientModules = [
    "Tenure", "TenureJSON", "TenureCore", "TenureFiles", "TenureHTTP", "TenureAPI", "TenurePolicyFile", "TenureContent",
]

/// The files that use an API for which `PrivacyInfo.xcprivacy` gives a reason, and the names they use.
private let declared = [
    "Tenure/Content/Disk/Disk.swift": ["volumeAvailableCapacity", "statvfs"],
    "TenureFiles/FileStatus.swift": ["lstat(", "stat("],
]
private let declaredSymbols: Set<String> = ["statvfs", "lstat"]

private let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../Sources").standardizedFileURL

/// What Apple lists under "Describing use of required reason API", as sources name it.
private let namesInSources = [
    // File timestamps.
    "creationDate", "modificationDate", "fileModificationDate", "contentModificationDate", "attributesOfItem",
    "getattrlist", "fgetattrlist", "getattrlistbulk", "getattrlistat", "fstat(", "fstatat(", "lstat(", "stat(",
    // The time since the system started.
    "systemUptime", "mach_absolute_time",
    // Disk space.
    "volumeAvailableCapacity", "volumeTotalCapacity", "systemFreeSize", "systemSize", "attributesOfFileSystem",
    "statfs",
    "statvfs",
    // The active keyboards, and user defaults.
    "activeInputModes", "UserDefaults",
]

/// The same APIs as undefined symbols of object files.
private let symbols: Set<String> = [
    "stat", "fstat", "fstatat", "lstat", "statx", "statfs", "fstatfs", "statvfs", "fstatvfs", "getattrlist",
    "fgetattrlist", "getattrlistbulk", "getattrlistat", "mach_absolute_time",
]

@Suite struct `The privacy of the client` {
    @Test func `the privacy manifest names every API for which Apple wants a reason`() throws {
        for module in clientModules {
            let folder = sources.appendingPathComponent(module)
            let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            for path in paths where path.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
                for line in text.split(separator: "\n") {
                    let code = line.prefix(upTo: line.range(of: "//")?.lowerBound ?? line.endIndex)
                    for name in namesInSources
                    where code.contains(name) && declared["\(module)/\(path)"]?.contains(name) != true {
                        Issue.record("\(module)/\(path): `\(name)` needs a reason in PrivacyInfo.xcprivacy")
                    }
                }
            }
        }
    }

    #if os(Linux)
        @Test func `the client uses no symbol that needs a reason missing in the privacy manifest`() throws {
            let products = Command.executable.deletingLastPathComponent()
            for module in clientModules {
                let folder = products.appendingPathComponent("\(module).build")
                let objects = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                    .filter { $0.hasSuffix(".o") }.map { folder.appendingPathComponent($0).path }
                #expect(!objects.isEmpty, "\(module) wasn't built with the tests")
                let wanted = try undefinedSymbols(of: objects)
                #expect(wanted.contains { $0.contains("swift_") })
                #expect(
                    wanted.isDisjoint(with: symbols.subtracting(declaredSymbols)),
                    "\(module) uses \(wanted.intersection(symbols))")
            }
        }

        private func undefinedSymbols(of objects: [String]) throws -> Set<String> {
            let result = try Tool.run("/usr/bin/env", ["nm", "--undefined-only", "--format=posix"] + objects)
            let names = result.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
            return Set(names.map { $0.prefix { $0 != "@" } }.map(String.init))
        }
    #endif

    @Test func `the privacy manifest declares no tracking, and the reasons for disk space and file sizes`() throws {
        let manifest = try Self.manifest()
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
        let types = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let reasons = types.map { ($0["NSPrivacyAccessedAPITypeReasons"] as? [String])?.first }
        #expect(
            types.map { $0["NSPrivacyAccessedAPIType"] as? String } == [
                "NSPrivacyAccessedAPICategoryDiskSpace", "NSPrivacyAccessedAPICategoryFileTimestamp",
            ])
        #expect(reasons == ["E174.1", "C617.1"])
    }

    @Test func `the privacy manifest declares the data that a sync sends, for the purpose of app functionality`() throws
    {
        let types = try #require(try Self.manifest()["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
        let names = types.compactMap { $0["NSPrivacyCollectedDataType"] as? String }
        #expect(
            names
                == ["PurchaseHistory", "UserID", "DeviceID", "ProductInteraction"].map {
                    "NSPrivacyCollectedDataType\($0)"
                })
        for type in types {
            #expect(type["NSPrivacyCollectedDataTypeLinked"] as? Bool == true)
            #expect(type["NSPrivacyCollectedDataTypeTracking"] as? Bool == false)
            #expect(
                type["NSPrivacyCollectedDataTypePurposes"] as? [String]
                    == ["NSPrivacyCollectedDataTypePurposeAppFunctionality"])
        }
    }

    private static func manifest() throws -> [String: Any] {
        let data = try Data(contentsOf: sources.appendingPathComponent("Tenure/PrivacyInfo.xcprivacy"))
        return try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }
}
