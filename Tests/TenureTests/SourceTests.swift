import Foundation
import Testing

private let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../Sources").standardizedFileURL

/// The modules that become part of an app.
private let clientModules = ["Tenure", "TenureCore", "TenureHTTP", "TenureAPI", "TenurePolicyFile", "TenureContent"]

private func files(of modules: [String]) throws -> [(name: String, lines: [String])] {
    try modules.flatMap { module in
        let folder = sources.appendingPathComponent(module)
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            let code = text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { String($0.prefix(upTo: $0.range(of: "//")?.lowerBound ?? $0.endIndex)) }
            return ("\(module)/\(path)", code)
        }
    }
}

/// APIs newer than iOS 16 and macOS 13. The compiler on Linux checks no availability, so these tests search the
/// sources.
private let tooNew = [
    "import Synchronization", "Mutex<", "Mutex(", "Atomic<", "import Observation", "@Observable", "InlineArray",
    "RawSpan", "Span<", "withDiscardingTaskGroup", "withThrowingDiscardingTaskGroup", "SwiftData", "#Predicate",
    "UInt128", "Int128", "AsyncStream(unfolding", "Task.immediate", "TaskExecutor",
    "String(validating",
]

@Suite struct `The client's sources` {
    @Test func `the client's sources use no API newer than iOS 16, macOS 13, tvOS 16, watchOS 9 and visionOS 1`()
        throws
    {
        let files = try files(of: clientModules)
        #expect(files.count > 50)
        for (name, lines) in files {
            for (number, line) in lines.enumerated() {
                for word in tooNew where line.contains(word) {
                    Issue.record("\(name):\(number + 1): `\(word)` is newer than the oldest system of the client")
                }
            }
        }
    }

    /// Compilers on Linux don't check `@available`, so its uses are kept in one file, in which a review can check them.
    @Test func `the client's sources use @available only in Tenure+PurchaseForms.swift`() throws {
        let users = try files(of: clientModules).filter { _, lines in lines.contains { $0.contains("@available") } }
        for (name, _) in users where name != "Tenure/AppStore/Tenure+PurchaseForms.swift" {
            Issue.record("\(name): `@available` belongs in `Tenure/AppStore/Tenure+PurchaseForms.swift`")
        }
    }

    @Test func `the client's sources read StoreKit's transactions only in StoreKitAccess.swift`() throws {
        let makers = try files(of: ["Tenure"]).filter { _, lines in
            lines.contains { $0.contains("AppTransaction.shared") || $0.contains("Transaction.all") }
        }
        #expect(makers.map(\.name) == ["Tenure/AppStore/StoreKitAccess.swift"])
    }

    @Test func `only StoreKitAccess.swift can show a sign-in, and only Restore.swift asks it to`() throws {
        let callers = try files(of: ["Tenure"]).flatMap { name, lines in
            lines.filter { $0.contains("AppStore.sync()") || $0.contains("AppTransaction.refresh()") }.map { _ in name }
        }
        #expect(callers == ["Tenure/AppStore/StoreKitAccess.swift", "Tenure/AppStore/StoreKitAccess.swift"])
        let users = try files(of: ["Tenure"]).filter { _, lines in
            lines.contains { $0.contains(".synchronize()") || $0.contains(".refreshAppTransaction()") }
        }
        #expect(users.map(\.name) == ["Tenure/Restore.swift"])
    }

    @Test func `the client's sources don't use try!, as!, fatalError, precondition or unowned`() throws {
        for (name, lines) in try files(of: ["Tenure"]) {
            for (number, line) in lines.enumerated() {
                for word in ["try!", "as!", "fatalError(", "precondition(", "unowned"] where line.contains(word) {
                    Issue.record("\(name):\(number + 1): `\(word)`")
                }
            }
        }
    }
}
