import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// Parses and verifies lines. Many tasks share one reader.
struct LineReader: Sendable {
    let verifier: AppStoreVerifier
    /// Artifacts with a later signing date are rejected.
    let now: Date
    /// Whether a line without `purchasesAreComplete` has all purchases of its customer.
    let purchasesAreComplete: Bool

    /// The result of one line.
    struct Reading {
        /// The facts of the line; nil if no artifact is valid, or if the artifacts belong to several accounts.
        var entry: Entry?
        /// The faults of the line, or of rejected artifacts in it.
        var faults: [LineFault] = []
    }

    /// Parses a line, and verifies each artifact in it. A rejected artifact doesn't prevent the use of the line's other
    /// artifacts.
    func read(_ line: ArraySlice<UInt8>) -> Reading {
        var reading = Reading()
        do throws(LineFault) {
            let line = try EvidenceLine(line)
            var draft = EntryDraft(
                exportedID: line.id, purchasesAreComplete: line.purchasesAreComplete ?? purchasesAreComplete)
            for part in line.parts {
                do throws(Rejection) {
                    let rejection = draft.add(try verify(part))
                    if let rejection { throw rejection }
                } catch {
                    reading.faults.append(LineFault(error, part: part.name))
                }
            }
            reading.entry = try draft.entry()
        } catch {
            reading.faults.append(error)
        }
        return reading
    }

    private func verify(_ part: EvidenceLine.Part) throws(Rejection) -> VerifiedArtifact {
        switch part.content {
        case .jws: return try verifier.verifyEvidence(part.bytes, now: now)
        // Unlike a sync, accept app transactions from the App Store Server API. Such app transactions aren't bound to a
        // device, but a rehearsal gives no one access.
        case .appTransaction:
            let bytes = Array(part.bytes)
            return .appTransaction(try verifier.verifyAppTransaction(bytes, from: .appStoreServer, now: now))
        case .transaction: return .transaction(try verifier.verifyTransaction(Array(part.bytes), now: now))
        case .renewalInfo: return .renewalInfo(try verifier.verifyRenewalInfo(Array(part.bytes), now: now))
        case .receipt: return .receipt(try verifier.verifyReceipt(receiptBytes(base64: part.bytes), now: now))
        }
    }
}
