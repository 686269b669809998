// The part that `BackgroundAssetsSource` uses, as documented (iOS 26):
// https://developer.apple.com/documentation/backgroundassets/assetpackmanager

public import Foundation
public import System

public struct AssetPack: Identifiable, Hashable, Sendable {
    public let id: String
    public let downloadSize: Int
    public let version: Int
}

public actor AssetPackManager {
    public static let shared = AssetPackManager()

    public enum DownloadStatusUpdate: Sendable {
        case began(AssetPack)
        case paused(AssetPack)
        case downloading(AssetPack, Progress)
        case finished(AssetPack)
        case failed(AssetPack, any Error)
    }

    public func assetPack(withID assetPackID: String) async throws -> AssetPack { throw CancellationError() }
    public func ensureLocalAvailability(of assetPack: AssetPack) async throws {}
    public func remove(assetPackWithID assetPackID: String) async throws {}

    public nonisolated func statusUpdates(
        forAssetPackWithID assetPackID: String
    ) -> some AsyncSequence<DownloadStatusUpdate, Never> & Sendable {
        AsyncStream<DownloadStatusUpdate> { $0.finish() }
    }

    public nonisolated func url(for path: FilePath) throws -> URL { throw CancellationError() }
}
