import CalculatorApp
import Crypto
import Foundation
import LocalAppStore
import StoreKit
import TenureContent
import TenureContentPublishing
import TenurePolicyFile
import TenureServer
import Testing

@testable import Tenure

/// The example app, with a service that delivers the sounds of its keys.
extension `The example app` {
    private static let tone = ContentTestBed.bytes(300_000)

    /// Publishes the sounds, and runs the app on a device that reaches the service and a local App Store.
    private func withSounds(
        of customer: String,
        _ body: @escaping @Sendable @MainActor (CalculatorModel, ServedStore) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = folder.appendingPathComponent("sounds/digits")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        for digit in 0...9 { try Self.tone.write(to: files.appendingPathComponent("\(digit).wav")) }
        let key = P256.Signing.PrivateKey()
        let published = folder.appendingPathComponent("published").path
        _ = try ContentPublisher(folder: published, key: key).publish(
            bundleID: InventedApp.bundleID,
            packs: [
                try PackSource(
                    name: "sounds", unlock: .entitlement("everything"),
                    folder: folder.appendingPathComponent("sounds").path)
            ])
        // The app's clock is that of this machine.
        try await RealService.run(
            now: { max(Date(), InventedApp.now) }, { $0.content = ContentSettings(folder: published) }
        ) { service in
            try await ServedStore.run { served in
                setenv("XDG_DATA_HOME", folder.appendingPathComponent("device").path, 1)
                try await served.device(of: customer) { _ in
                    let address = CalculatorService(
                        url: service.url, key: service.key, contentKey: PinnedKey(key.publicKey).text)
                    try await body(try await CalculatorModel(service: address), served)
                }
            }
        }
    }

    @MainActor private func waits(for sounds: (Sounds) -> Bool, in model: CalculatorModel) async throws {
        for _ in 0..<1500 where !sounds(model.sounds) { try await Task.sleep(for: .milliseconds(20)) }
        try #require(sounds(model.sounds), "\(model.sounds) \(model.notice ?? "")")
    }

    @Test func `the example app of an owner downloads the key sounds from the service, and opens them`() async throws {
        try await withSounds(of: "Ada") { model, _ in
            let following = Task { await model.followSounds() }
            defer { following.cancel() }
            await model.open()
            #expect(model.keypad == .scientific)
            try await waits(for: { if case .available = $0 { true } else { false } }, in: model)
            // The size is known before anything is downloaded.
            guard case .available(let megabytes) = model.sounds else { return }
            #expect(megabytes > 0.3 && megabytes < 4)
            #expect(await model.sound(of: .digit(4)) == nil)
            await model.downloadSoundsTapped()
            #expect(model.notice == nil && model.sounds == .installed)
            let sound = try #require(await model.sound(of: .digit(4)))
            #expect(try Data(contentsOf: sound) == Self.tone)
            #expect(await model.sound(of: .plus) == nil)
        }
    }

    @Test func `the example app offers its sounds only after its customer bought the scientific keys`() async throws {
        try await withSounds(of: "Dana") { model, _ in
            let following = Task { await model.followSounds() }
            defer { following.cancel() }
            await model.open()
            #expect(model.keypad == .basic && model.sounds == .locked)
            await model.downloadSoundsTapped()
            #expect(model.notice != nil && model.sounds == .locked)
            #expect(await model.sound(of: .digit(4)) == nil)
            await model.buyTapped(try await product(InventedApp.everything))
            #expect(model.keypad == .scientific)
            try await waits(for: { if case .available = $0 { true } else { false } }, in: model)
            await model.downloadSoundsTapped()
            #expect(model.sounds == .installed)
            let sound = try #require(await model.sound(of: .digit(9)))
            #expect(try Data(contentsOf: sound) == Self.tone)
        }
    }
}
