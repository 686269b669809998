import CommandRunner
import Foundation
import TenureContent
import TenureCore
import Testing

@testable import Tenure

/// A source may learn from its server that the bytes are refused after the app or a refund has stopped the download.
@Suite(.timeLimit(.minutes(2))) struct `A refusal that comes after the download was stopped` {
    /// Why the download was stopped.
    enum Stop: Sendable, CaseIterable { case canceled, paused, refunded }

    private static let files: [String: Data] = ["a.bin": ContentTestBed.bytes(300_000)]
    private static let loops = "com.example.loops"

    /// A pack of which the source holds the first request, although the download was stopped.
    private struct Scene {
        let testBed: ContentTestBed
        let source: LateRefusal
        let tenure: Tenure
        let first: Task<Void, any Error>
        let stopping: Task<Void, Never>

        var piano: Tenure.AssetPack { tenure.content["piano"] }

        init(_ stop: Stop) async throws {
            let store = FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = [InventedApp.purchase(loops)]
            }
            let testBed = try ContentTestBed(files, unlock: .product(loops), store: store) {
                $0.options.whileUndetermined = .deny
            }
            let (source, keys) = (LateRefusal(testBed.published), testBed.keys)
            let tenure = testBed.device.start { $0.options.content = .custom(source, keys: keys) }
            let piano = tenure.content["piano"]
            first = Task { try await piano.download() }
            while !source.isAsked { try await Task.sleep(nanoseconds: 1_000_000) }
            stopping = Task {
                switch stop {
                case .canceled:
                    await piano.cancel()
                    #expect(source.isReleased, "nothing writes for the pack anymore")
                case .paused: await piano.pause()
                case .refunded:
                    store.change {
                        $0.transactions = [
                            InventedApp.purchase(loops, revoked: InventedApp.now.addingTimeInterval(-60))
                        ]
                    }
                    _ = await tenure.refresh()
                    _ = await piano.reaches { $0 == .notEntitled }
                    store.deliverUpdate(InventedApp.purchase(loops, id: "410000000000009"))
                    _ = await piano.reaches { $0 != .notEntitled }
                }
            }
            while !source.isStopped { try await Task.sleep(nanoseconds: 1_000_000) }
            (self.testBed, self.source, self.tenure) = (testBed, source, tenure)
        }
    }

    @Test(arguments: Stop.allCases)
    func `a refusal that arrives after a download was stopped isn't reported as a failure`(stop: Stop) async throws {
        let scene = try await Scene(stop)
        let piano = scene.piano
        if stop == .refunded { await scene.stopping.value }
        try await Task.sleep(nanoseconds: 20_000_000)
        scene.source.release()
        await scene.stopping.value
        while await piano.library.runningDownload != nil { try await Task.sleep(nanoseconds: 1_000_000) }
        // If the client used the refusal, this search would check the right.
        _ = await scene.tenure.refresh()
        await scene.tenure.content.refresh()
        switch (stop, piano.state) {
        case (.paused, .paused), (.canceled, .available), (.refunded, .available): break
        default: Issue.record("\(piano.state)")
        }
        if stop == .paused {
            await piano.resume()
            try await scene.first.value
        } else {
            await #expect(throws: Tenure.AssetPackError.self) { try await scene.first.value }
            try await piano.download()
        }
        #expect(try await ContentTestBed.contents(of: scene.tenure) == Self.files)
    }

    @Test(arguments: Stop.allCases)
    func `a refusal that arrives after a download was stopped doesn't end a newer download`(stop: Stop) async throws {
        let scene = try await Scene(stop)
        let piano = scene.piano
        if stop == .refunded { await scene.stopping.value }
        let second = Task { try await piano.download() }
        // The first request is still there.
        while await piano.library.requests.first?.isPaused != false { try await Task.sleep(nanoseconds: 1_000_000) }
        scene.source.release()
        try await second.value
        await scene.stopping.value
        _ = await scene.first.result
        #expect(try await ContentTestBed.contents(of: scene.tenure) == Self.files)
    }
}
