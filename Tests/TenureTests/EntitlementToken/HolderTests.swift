import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The holder of an entitlement token` {
    private let signer = Signer()
    private let now = InventedApp.now

    /// Returns why the reader rejects a token with changed claims, for a changed holder.
    private func refusal(
        _ claims: [String: String] = [:], at instant: Date? = nil,
        for change: (inout EntitlementTokenReader.Holder) -> Void = { _ in }
    ) throws -> EntitlementTokenReader.Refusal? {
        var holder = EntitlementTokenReader.Holder(
            device: InventedApp.device.hashed, bundleID: InventedApp.bundleID,
            appTransactionID: "704000000000000001", environment: .production)
        change(&holder)
        let keys = KeyRing([try signer.pinned()])
        let reader = EntitlementTokenReader(keys: keys, trustsTestAuthorities: false)
        let token = EntitlementTokenReader.Token(text: try signer.entitlementToken(claims))
        do throws(EntitlementTokenReader.Refusal) {
            _ = try reader.read(stored: token, for: holder, at: instant ?? now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a device that StoreKit doesn't identify accepts the token of any device`() throws {
        let other = ["device": "\"\(InventedApp.otherDevice.hashed)\""]
        #expect(try refusal(other) == .anotherDevice)
        #expect(try refusal(other) { $0.device = nil } == nil)
    }

    @Test func `the account is compared only if both the device and the token name one`() throws {
        #expect(try refusal(["appTransactionID": "\"7\""]) == .anotherCustomer)
        #expect(try refusal(["appTransactionID": "\"7\""]) { $0.appTransactionID = nil } == nil)
        #expect(try refusal(["appTransactionID": "null"]) == nil)
    }

    @Test func `a device without an artifact accepts only tokens for Production`() throws {
        let sandbox = ["environment": "\"Sandbox\""]
        #expect(try refusal { $0.environment = nil } == nil)
        #expect(try refusal(sandbox) { $0.environment = nil } == .anotherEnvironment)
        #expect(try refusal(sandbox) { $0.environment = .sandbox } == nil)
        #expect(try refusal { $0.environment = .sandbox } == .anotherEnvironment)
    }

    @Test func `a stored token for a persona is refused from its expiration date on, unlike other tokens`() throws {
        let exp = now.addingTimeInterval(100)
        var claims = ["environment": "\"Sandbox\"", "exp": "\(Int(exp.timeIntervalSince1970))"]
        #expect(try refusal(claims, at: exp) { $0.environment = .sandbox } == nil)
        claims["persona"] = "\"early\""
        #expect(try refusal(claims, at: exp.addingTimeInterval(-1)) { $0.environment = .sandbox } == nil)
        #expect(try refusal(claims, at: exp) { $0.environment = .sandbox } == .expiredPersona)
    }

    @Test(
        arguments: [
            (.notSigned, "isn't signed with a pinned key"),
            (.revoked, "is signed with a revoked key"),
            (.afterSigningPeriod, "is signed with a key after the end of its signing period"),
            (.malformed, "can't be read"), (.anotherApp, "was issued for another app"),
            (.anotherDevice, "was issued for another device"), (.anotherCustomer, "was issued for another account"),
            (.anotherEnvironment, "was issued for another App Store environment"),
            (.test, "is based on artifacts of a test authority"), (.missing, "is missing"),
            (.replayed, "doesn't answer this request"), (.fromTheFuture, "has an issue date in the future"),
            (.expiredPersona, "is for a persona that has expired"),
        ] as [(EntitlementTokenReader.Refusal, String)])
    func `each reason for a refusal has its own text`(_ refusal: EntitlementTokenReader.Refusal, _ text: String) {
        #expect(refusal.rawValue == text)
    }
}
