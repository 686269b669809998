import Foundation
import StoreKit
import TenureCore
import Testing

@testable import Tenure

private let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../..").standardizedFileURL

@Suite(.timeLimit(.minutes(2))) struct `The README's app` {
    @Test func `the README's app is identical to the code that these tests run`() throws {
        let app = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("ReadmeApp.swift"), encoding: .utf8)
        let page = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(page.contains("```swift file\n" + app + "```"))
        let lines = app.split(separator: "\n").filter { !$0.trimmingCharacters(in: .whitespaces).isEmpty }
        #expect(lines.count <= 32, "the README's app has more than thirty lines and two imports")
    }

    /// Follows the updates until the app shows what is expected.
    @MainActor private func follow(_ app: ReadmeApp, until isDone: @escaping @MainActor () -> Bool) async throws {
        let following = Task { await app.follow() }
        defer { following.cancel() }
        while !isDone() {
            await Task.yield()
            try await Task.sleep(nanoseconds: 1_000_000)
        }
    }

    @Test @MainActor func `the README's app unlocks features, shows a trial, sells and restores`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Dana") { device in try await use(served, device) }
        }
    }

    @MainActor private func use(_ served: ServedStore, _ device: LocalStore) async throws {
        let app = ReadmeApp(try served.start())
        #expect(app.isResolving)
        try await follow(app) { !app.isResolving }
        #expect(!app.isUnlocked)
        await app.tryTapped()
        #expect(app.message == "1 free sessions left")
        try await follow(app) { app.isUnlocked }
        await app.buyTapped(try await product(InventedApp.everything))
        try await follow(app) { app.isUnlocked }
        device.behavior.signIn = .isCancelled
        await app.restoreTapped()
        try await follow(app) { app.isUnlocked }
        #expect(device.signInRequests == 1)
    }

    @Test @MainActor func `the README's app unlocks for an owner at the first start after the update`() async throws {
        try await ServedStore.run { served in
            try await served.device(of: "Ada") { device in
                let app = await ReadmeApp(try served.start())
                try await follow(app) { !app.isResolving }
                #expect(await app.isUnlocked)
                #expect(device.signInRequests == 0)
            }
        }
    }
}
