import TenureAPI
import TenureCore

/// Counts and limits the downloads in progress. Downloads may use only a share of the connections, so that many
/// downloads don't block syncs, notifications and health checks.
final class Downloads: Sendable {
    private let state = Locked(State())
    private let limit: Int
    private let limitPerCustomer: Int

    private struct State {
        var counts: [Customer: Int] = [:]
        var total = 0
    }

    /// A customer of one app.
    struct Customer: Hashable {
        /// The ID of the app's database.
        let databaseID: [UInt8]
        /// The row ID of the customer in that database.
        let number: Int64
    }

    /// One download in progress. The download is counted until the last reference to this object is released.
    final class Slot: Sendable {
        private let onEnd: @Sendable () -> Void

        fileprivate init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }
    }

    init(limit: Int, perCustomer: Int = ServiceConfiguration.defaultDownloadsPerCustomer) {
        self.limit = max(1, limit)
        limitPerCustomer = perCustomer
    }

    /// Begins a download if the limits allow it, and returns its slot, which counts the download until it is released.
    /// Otherwise throws the response to the client.
    ///
    /// - Parameter metrics: The metrics of the customer's app, which count the download or its rejection.
    func begin(for customer: Customer, _ metrics: ServiceMetrics) throws(Problem) -> Slot {
        let rejection = state.withLock { state -> DownloadRejection? in
            let count = state.counts[customer, default: 0]
            guard count < limitPerCustomer else { return .customer }
            guard state.total < limit else { return .total }
            state.counts[customer] = count + 1
            state.total += 1
            return nil
        }
        if let rejection {
            metrics.rejectedDownload(rejection)
            throw rejection.problem
        }
        metrics.beganDownload()
        return Slot { [self] in
            end(for: customer)
            metrics.endedDownload()
        }
    }

    private func end(for customer: Customer) {
        state.withLock { state in
            state.total -= 1
            let count = state.counts[customer, default: 1] - 1
            state.counts[customer] = count > 0 ? count : nil
        }
    }
}

extension DownloadRejection {
    /// The response to the client.
    var problem: Problem {
        switch self {
        case .customer:
            Problem(
                .tooManyRequests,
                "this customer has the maximum number of downloads in progress; wait until a download ends",
                retryAfter: 5)
        case .total: Problem(.busy, "too many downloads are in progress; try again", retryAfter: 10)
        }
    }
}

extension ServiceConfiguration {
    /// Creates the counter of downloads, which may use half of the connections.
    var downloads: Downloads { Downloads(limit: connectionLimit / 2, perCustomer: downloadsPerCustomer) }
}
