import Foundation
import StoreContract
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `a canceled publication` {
    @Test func `a canceled task ends no promises of a publication, and a later task ends them`() async throws {
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let start = try await store.write(locking: [.policies]) { try $0.start(with: [1], sha256: [1]) }
            let promise = StoredPromise(
                entitlement: "everything",
                acquisition: AcquisitionKey(appTransactionID: "1", downloadID: nil, originalPurchaseDate: nil),
                policyVersion: 1, until: nil, recordedAt: .now)
            let (customer, _) = try await store.update(
                [Identity(.appTransactionID, "1")], in: Realm(.production), at: .now
            ) { known in
                var update = CustomerUpdate(of: known)
                update.promise(promise)
                return (update, ())
            }
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            evaluation.setImpact(PublicationImpact(loses: true, ending: ["everything"]), of: customer.id)
            let request = RequestedPublication(
                compiled: [2], sha256: [2], action: .publish, at: .now, actor: "ada", reason: nil, base: start.id,
                lossAllowance: 1, endsPromises: true)
            let outcome = try await store.publish(request, after: evaluation) { _ in PublicationImpact() }
            guard case .published(let publication) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(publication.counts.ended == 1)
            let canceled = Task {
                while !Task.isCancelled { await Task.yield() }
                try await store.finishPublication(at: .now)
            }
            canceled.cancel()
            await #expect(throws: StoreError.busy) { try await canceled.value }
            #expect(try await store.read { try $0.unfinishedPublication() } != nil)
            #expect(try await store.read { try $0.events(of: customer.id) }.isEmpty)
            try await store.finishPublication(at: .now)
            #expect(try await store.read { try $0.unfinishedPublication() } == nil)
            #expect(try await store.read { try $0.events(of: customer.id) }.map(\.kind) == [.promisesEnded])
            try await store.close()
        }
    }
}
