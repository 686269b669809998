import Foundation
import TenureCore

@testable import Tenure

/// An app's own source, which at first isn't reachable.
final class LateSource: Tenure.ContentSource {
    let identifier = "late"
    private let folder: String
    /// What it reports before it delivers.
    private let fraction: Double
    private let state = Locked((isReady: false, lists: 0))

    init(_ folder: String, fraction: Double = 0) { (self.folder, self.fraction) = (folder, fraction) }

    var isReady: Bool {
        get { state.withLock { $0.isReady } }
        set { state.withLock { $0.isReady = newValue } }
    }
    /// How many times it was asked for its catalog.
    var lists: Int { state.withLock { $0.lists } }

    func list() throws -> [Tenure.ContentListing] {
        state.withLock { $0.lists += 1 }
        guard isReady else { throw Tenure.ContentSourceError.unavailable() }
        return [.catalog(try Data(contentsOf: URL(fileURLWithPath: folder + "/catalog.jws")))]
    }

    func fetch(_ request: Tenure.ContentRequest, receive: (Tenure.ContentDelivery) throws -> Void) throws {
        let file = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + request.digest))
        try receive(.preparing(fraction))
        try receive(.bytes(file[Int(request.range.lowerBound)..<Int(request.range.upperBound)]))
    }

    func remove(_ pack: String) {}
}
