import Foundation
import TenureAppStore
import TenureCore
import TenureStore

/// Parses the lines of an evidence file, and verifies the signed artifacts in them. Many tasks share one reader.
struct LineReader: Sendable {
    let verifier: AppStoreVerifier
    /// Artifacts with a later signing date are rejected.
    let now: Date
    /// Whether a line without `purchasesAreComplete` has all purchases of its customer.
    let purchasesAreComplete: Bool

    /// The result of one line.
    struct Reading {
        /// What the line proves; nil if no artifact is valid, or if the artifacts belong to several accounts.
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
            var builder = EntryBuilder(
                exportedID: line.id, purchasesAreComplete: line.purchasesAreComplete ?? purchasesAreComplete)
            for part in line.parts {
                do throws(Rejection) {
                    let rejection = builder.add(try verify(part))
                    if let rejection { throw rejection }
                } catch {
                    reading.faults.append(LineFault(error, part: part.name))
                }
            }
            reading.entry = try builder.entry()
        } catch {
            reading.faults.append(error)
        }
        return reading
    }

    /// Verifies the signature of one artifact.
    private func verify(_ part: EvidenceLine.Part) throws(Rejection) -> VerifiedArtifact {
        switch part.content {
        case .jws: return try verifier.verifyEvidence(part.bytes, now: now)
        // Also accept app transactions from the App Store Server API. They aren't bound to a device (verified as its
        // own), so the service doesn't accept them from an app. But a rehearsal gives no one access.
        case .appTransaction:
            let bytes = Array(part.bytes)
            return .appTransaction(try verifier.verifyAppTransaction(bytes, from: .appStoreServer, now: now))
        case .transaction: return .transaction(try verifier.verifyTransaction(Array(part.bytes), now: now))
        case .renewalInfo: return .renewalInfo(try verifier.verifyRenewalInfo(Array(part.bytes), now: now))
        case .receipt: return .receipt(try verifier.verifyReceipt(receiptBytes(base64: part.bytes), now: now))
        }
    }
}
