import Foundation
import FuzzedReaders
import TenureAppStore
import TenureCore
import TenureMint

/// One parser or verifier of untrusted bytes.
enum FuzzTarget: String, CaseIterable {
    /// A whole JWS of any kind: nothing but what was minted verifies.
    case jws
    /// Payloads under a sound signature: what stands behind the signature check.
    case jwsPayload = "jws-payload"
    case json
    /// A whole receipt in BER or DER: nothing but what was minted verifies.
    case receipt
    /// The content of a receipt under a sound signature.
    case receiptPayload = "receipt-payload"
    case receiptBase64 = "receipt-base64"
    case verifyReceipt = "verify-receipt"
    case appVersion = "app-version"
    case policy
    /// A policy as apps bundle it.
    case compiledPolicy = "compiled-policy"
    /// The certificates of an operator, in PEM or DER.
    case anchors
    /// The body of a sync.
    case sync
    /// What the record holds of a customer.
    case facts

    var maximumLength: Int {
        switch self {
        case .jws, .receipt, .receiptBase64, .verifyReceipt: 16_384
        case .jwsPayload, .receiptPayload, .json, .policy, .compiledPolicy, .anchors, .sync, .facts: 4_096
        case .appVersion: 256
        }
    }

    func seeds(from world: World) throws -> [[UInt8]] {
        switch self {
        case .jws: try world.jws.map(\.bytes)
        case .jwsPayload, .json: try world.payloads + [Array(#"{"a":[1,2.5e3,true,null,"\u00e9\ud83d\ude00"]}"#.utf8)]
        case .receipt: try world.receipts
        case .receiptPayload: try world.receipts.compactMap { try world.content(of: $0) }
        case .receiptBase64: try world.receipts.map { Array(Data($0).base64EncodedData()) }
        case .verifyReceipt: try world.verifyReceiptAnswers
        case .appVersion: ["1", "1.0.0", "2023.2.2", "0.0", " 15741 ", "99999999999999999999.1"].map { Array($0.utf8) }
        case .policy: world.policies.map { Array($0.utf8) }
        case .compiledPolicy: try world.compiledPolicies
        case .anchors: [try world.anchors]
        case .sync: try world.syncs
        case .facts: try [world.facts, FuzzedReaders.facts(of: [], [], [])]
        }
    }

    /// Runs into a trap where an invariant does not hold.
    func run(_ input: [UInt8], in world: World) {
        switch self {
        case .jws: world.tryJWS(input)
        case .jwsPayload: world.tryPayload(input)
        case .json: tryJSON(input)
        case .receipt: world.tryReceipt(input)
        case .receiptPayload: world.tryReceiptContent(input)
        case .receiptBase64: tryBase64(input)
        case .verifyReceipt: tryVerifyReceipt(input)
        case .appVersion: tryVersions(input)
        case .policy: tryPolicy(input)
        case .compiledPolicy: tryCompiledPolicy(input)
        case .anchors: tryAnchors(input)
        case .sync: FuzzedReaders.sync(input)
        case .facts: FuzzedReaders.facts(input)
        }
    }
}

/// What does not throw writes JSON that reads as the same value.
private func tryJSON(_ input: [UInt8]) {
    guard let value = try? JSONValue(parsing: input) else { return }
    let written = value.bytes
    guard let again = try? JSONValue(parsing: written), again == value, again.bytes == written else {
        fatalError("JSON does not survive being written")
    }
}

private func tryBase64(_ input: [UInt8]) {
    _ = ReceiptEncoding(recognizing: input)
    if let bytes = try? receiptBytes(base64: input) {
        guard Array(Data(bytes).base64EncodedData()) == input else { fatalError("two spellings of one receipt") }
        _ = try? UnverifiedReceipt(bytes)
    }
    if let bytes = try? receiptBytes(file: input) { _ = try? UnverifiedReceipt(bytes) }
}

private func tryVerifyReceipt(_ input: [UInt8]) {
    guard let answer = try? VerifyReceiptResponse(parsing: input) else { return }
    guard let again = try? VerifyReceiptResponse(parsing: JSONValue.object(answer.json).bytes), again == answer else {
        fatalError("an answer does not survive being written")
    }
}

/// Whoever lists certificates trusts at least one, and each has a name by which to tell it.
private func tryAnchors(_ input: [UInt8]) {
    guard let anchors = try? TrustAnchors(input) else { return }
    guard !anchors.summaries.isEmpty else { fatalError("an empty list of anchors was read") }
}

/// The input is two texts, divided by a comma.
private func tryVersions(_ input: [UInt8]) {
    let texts = input.split(separator: UInt8(ascii: ","), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
    let versions = texts.compactMap { AppVersion($0) }
    for version in versions {
        guard AppVersion(version.description) == version else { fatalError("a version does not read as itself") }
    }
    guard versions.count == 2 else { return }
    let relations = [versions[0] < versions[1], versions[0] == versions[1], versions[0] > versions[1]]
    guard relations.filter({ $0 }).count == 1 else { fatalError("versions are not in an order") }
    guard versions[0] != versions[1] || versions[0].hashValue == versions[1].hashValue else {
        fatalError("equal versions hash differently")
    }
}
