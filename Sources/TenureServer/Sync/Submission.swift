import Foundation
import TenureAPI
import TenureAppStore
import TenureCore
import TenureStore

/// What of a sync could be verified, each artifact by itself, and why the rest could not.
struct Submission: Sendable {
    var appTransaction: Arrival<AppTransactionPayload>?
    var receipt: Arrival<ReceiptPayload>?
    var transactions: [(arrival: Arrival<TransactionPayload>, purchase: Purchase)] = []
    var renewals: [(arrival: Arrival<RenewalInfoPayload>, renewal: Renewal)] = []
    var faults: [Fault] = []
    /// Whether the client said that these transactions are all.
    let listsAllPurchases: Bool
    let deviceVerificationID: UUID?
    /// The same as the record and certificates write it.
    let hashedDevice: String?
    private let deviceIdentifier: [UInt8]?

    init(_ request: SyncRequest, on device: ClaimedDevice, by verifier: AppStoreVerifier, now: Date) async {
        deviceVerificationID = device.verificationID
        hashedDevice = device.verificationID?.hashed
        deviceIdentifier = device.identifier
        listsAllPurchases = request.transactions != nil
        if let jws = request.appTransaction { readAppTransaction(Array(jws.utf8), by: verifier, now: now) }
        if let base64 = request.receipt { readReceipt(base64, by: verifier, now: now) }
        for (index, jws) in (request.transactions ?? []).enumerated() {
            // A long list takes as long as many short requests: let those through.
            if index % 32 == 31 { await Task.yield() }
            readTransaction(Array(jws.utf8), at: .transaction(index), by: verifier, now: now)
        }
        for (index, jws) in (request.renewalInfos ?? []).enumerated() {
            if index % 32 == 31 { await Task.yield() }
            readRenewal(Array(jws.utf8), at: .renewalInfo(index), by: verifier, now: now)
        }
        keepOneRealm()
    }

    /// Who vouches for all that counts here: the app transaction decides, then the receipt, then the first transaction.
    var realm: Realm? { appTransaction?.realm ?? receipt?.realm ?? transactions.first?.arrival.realm }

    /// How many artifacts, purchases and renewals it has.
    var size: Int { 2 * (transactions.count + renewals.count) + (receipt?.verified.purchases.count ?? 0) + 2 }

    /// Whether some fault may go away by itself.
    var mayCountLater: Bool { faults.contains(where: \.isRetryable) }

    private mutating func readAppTransaction(_ bytes: [UInt8], by verifier: AppStoreVerifier, now: Date) {
        do throws(Rejection) {
            let verified = try verifier.verifyAppTransaction(bytes, from: .client, now: now)
            let isOnDevice = matches(try verified.payload.deviceBinding())
            appTransaction = Arrival(
                verified, .appTransaction, bytes, at: .appTransaction, isOnDevice: isOnDevice)
        } catch {
            faults.append(Fault(.appTransaction, error))
        }
    }

    private mutating func readReceipt(_ base64: String, by verifier: AppStoreVerifier, now: Date) {
        do throws(Rejection) {
            let bytes = try receiptBytes(base64: base64.utf8)
            let verified = try verifier.verifyReceipt(bytes, now: now)
            let isOnDevice = deviceIdentifier.map { verified.payload.matches(deviceIdentifier: $0) } ?? false
            receipt = Arrival(verified, .receipt, bytes, at: .receipt, isOnDevice: isOnDevice)
        } catch {
            faults.append(Fault(.receipt, error))
        }
    }

    private mutating func readTransaction(_ bytes: [UInt8], at place: Place, by verifier: AppStoreVerifier, now: Date) {
        do throws(Rejection) {
            let verified = try verifier.verifyTransaction(bytes, now: now)
            let isOnDevice = matches(try verified.payload.deviceBinding())
            let purchase = try verified.purchase
            transactions.append((Arrival(verified, .transaction, bytes, at: place, isOnDevice: isOnDevice), purchase))
        } catch {
            faults.append(Fault(place, error))
        }
    }

    private mutating func readRenewal(_ bytes: [UInt8], at place: Place, by verifier: AppStoreVerifier, now: Date) {
        do throws(Rejection) {
            let verified = try verifier.verifyRenewalInfo(bytes, now: now)
            let renewal = try verified.renewal
            renewals.append((Arrival(verified, .renewalInfo, bytes, at: place, isOnDevice: false), renewal))
        } catch {
            faults.append(Fault(place, error))
        }
    }

    private func matches(_ binding: DeviceVerification?) -> Bool {
        guard let binding, let deviceVerificationID else { return false }
        return binding.matches(deviceVerificationID: deviceVerificationID)
    }

    /// Environments never mix.
    private mutating func keepOneRealm() {
        guard let realm else { return }
        func isForeign(_ place: Place, _ other: Realm) -> Fault? {
            guard other != realm else { return nil }
            let detail =
                other.environment == realm.environment
                ? "it was signed under another authority than the rest"
                : "it was signed in \(other.environment.rawValue), and the rest in \(realm.environment.rawValue)"
            return Fault(place, .wrongEnvironment, detail)
        }
        if let arrival = receipt, let fault = isForeign(arrival.place, arrival.realm) {
            receipt = nil
            faults.append(fault)
        }
        for (arrival, _) in transactions {
            if let fault = isForeign(arrival.place, arrival.realm) { faults.append(fault) }
        }
        transactions.removeAll { $0.arrival.realm != realm }
        for (arrival, _) in renewals {
            if let fault = isForeign(arrival.place, arrival.realm) { faults.append(fault) }
        }
        renewals.removeAll { $0.arrival.realm != realm }
    }
}
