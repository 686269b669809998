import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// Checks that valid JSON stays the same value when it is written and read again.
func tryJSON(_ input: [UInt8]) {
    guard let value = try? JSONValue(parsing: input) else { return }
    let written = value.bytes
    guard let again = try? JSONValue(parsing: written), again == value, again.bytes == written else {
        fatalError("JSON does not survive being written")
    }
}

func tryBase64(_ input: [UInt8]) {
    _ = ReceiptEncoding(recognizing: input)
    if let bytes = try? receiptBytes(base64: input) {
        guard Array(Data(bytes).base64EncodedData()) == input else { fatalError("two spellings of one receipt") }
        _ = try? UnverifiedReceipt(bytes)
    }
    if let bytes = try? receiptBytes(file: input) { _ = try? UnverifiedReceipt(bytes) }
}

func tryVerifyReceipt(_ input: [UInt8]) {
    guard case .verifyReceiptResponse(let answer)? = try? AppStoreArtifact(recognizing: input) else { return }
    let written = JSONValue.object(answer.json).bytes
    guard case .verifyReceiptResponse(answer)? = try? AppStoreArtifact(recognizing: written) else {
        fatalError("a response differs after writing and reading")
    }
}

/// Checks that a list of anchors has at least one certificate.
func tryAnchors(_ input: [UInt8]) {
    guard let anchors = try? TrustAnchors(input) else { return }
    guard !anchors.summaries.isEmpty else { fatalError("an empty list of anchors was read") }
}

/// The input is two versions, separated by a comma.
func tryVersions(_ input: [UInt8]) {
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
