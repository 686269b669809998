import TenureCore
import TenureJSON

/// The form of an app receipt: the bytes of the file, or their Base64.
public enum ReceiptEncoding: Sendable, Hashable {
    /// The bytes themselves, in BER or DER.
    case binary
    /// The bytes in Base64.
    case base64

    /// The maximum size of Base64, as in Apple's `verifyReceipt`. The largest known genuine receipt has 79 KB.
    public static let maximumBase64Size = 3_145_728
    /// The maximum size of a receipt in bytes. Larger input is rejected before it is read.
    public static let maximumSize = maximumBase64Size / 4 * 3

    /// Recognizes the encoding by the file's first bytes; nil if the file can't be a receipt. Nothing is verified.
    public init?(recognizing file: [UInt8]) {
        if Self.looksLikeSignedData(file.prefix(64)) {
            self = .binary
            return
        }
        // The first bytes suffice: the outer sequence and the identifier of its content type. `& ~3` leaves whole
        // groups of four characters, because only these can be decoded.
        let beginning = file.lazy.filter { !$0.isASCIIWhitespace }.prefix(64)
        guard beginning.first == UInt8(ascii: "M"),
            let decoded = Base64.standard.decode(Array(beginning.prefix(beginning.count & ~3))[...]),
            Self.looksLikeSignedData(decoded[...])
        else { return nil }
        self = .base64
    }

    /// Whether the bytes begin like a receipt: a SEQUENCE with the identifier of CMS SignedData.
    private static func looksLikeSignedData(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.first == BERTag.sequence else { return false }
        let name = [BERTag.objectIdentifier, UInt8(ReceiptOID.signedData.count)] + ReceiptOID.signedData
        // The identifier follows the tag, which has one byte, and the length, which has one to five bytes.
        return (2...6).contains { bytes.dropFirst($0).starts(with: name) }
    }
}

/// Decodes a receipt that was sent as `receipt-data`: canonical standard Base64 with padding, without blanks or line
/// breaks, as Apple's `verifyReceipt` accepts it.
///
/// Throws `tooLarge` or `malformed`.
public func receiptBytes(base64: some Collection<UInt8>) throws(Rejection) -> [UInt8] {
    guard base64.count <= ReceiptEncoding.maximumBase64Size else {
        throw Rejection(
            .tooLarge,
            "the receipt has \(base64.count) characters of Base64; a genuine one has at most \(ReceiptEncoding.maximumBase64Size)"
        )
    }
    guard !base64.isEmpty else { throw Rejection(.malformed, "the receipt is empty") }
    guard let bytes = Base64.standard.decode(Array(base64)[...])
    else { throw Rejection(.malformed, "the receipt isn't canonical Base64 of the standard alphabet with its padding") }
    try rejectTransactionReceipt(bytes)
    return bytes
}

/// Decodes a receipt in a file: binary, or Base64, which may have line breaks.
///
/// Throws `tooLarge` or `malformed`.
public func receiptBytes(file: [UInt8]) throws(Rejection) -> [UInt8] {
    // Twice the maximum size of Base64 leaves room for line breaks.
    guard file.count <= 2 * ReceiptEncoding.maximumBase64Size else {
        throw Rejection(
            .tooLarge,
            "the file has \(file.count) bytes, which is too large for a receipt of at most \(ReceiptEncoding.maximumSize)"
        )
    }
    try rejectTransactionReceipt(file)
    if file.first == BERTag.sequence, ReceiptEncoding(recognizing: file) != .base64 { return file }
    let text = file.filter { !$0.isASCIIWhitespace }
    guard !text.isEmpty else { throw Rejection(.malformed, "the file is empty") }
    // The first six bits of a sequence's tag are an M in Base64.
    guard text.allSatisfy(\.isBase64Character), text.first == UInt8(ascii: "M") else {
        if let bytes = Base64.standard.decode(text[...]) { try rejectTransactionReceipt(bytes) }
        throw Rejection(.malformed, "the file isn't a receipt, neither in binary form nor in Base64")
    }
    return try receiptBytes(base64: text)
}

/// Throws if the bytes are a transaction receipt of iOS 6, which is an old-style property list. Its kind of signature
/// isn't supported. iOS 7 replaced it with the app receipt.
private func rejectTransactionReceipt(_ bytes: [UInt8]) throws(Rejection) {
    // The longest of the three beginnings has 14 characters.
    let beginning = bytes.lazy.filter { !$0.isASCIIWhitespace }.prefix(14)
    guard
        beginning.starts(with: "{\"signature\"".utf8) || beginning.starts(with: "{\"purchase-inf".utf8)
            || beginning.starts(with: "{signature=".utf8)
    else { return }
    // A colon means a JSON object, and not a property list.
    guard !bytes.prefix(64).contains(UInt8(ascii: ":")) else { return }
    throw Rejection(
        .malformed,
        "this is a transaction receipt of iOS 6 (a property list), not an app receipt; send the file at `appStoreReceiptURL`"
    )
}

extension UInt8 {
    fileprivate var isBase64Character: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
