import TenureCore
import TenureJSON

/// An artifact of the App Store, recognized by its bytes and not yet verified.
public enum AppStoreArtifact: Sendable, Hashable {
    /// A compact JWS, parsed, with its original bytes.
    case jws(UnverifiedJWS, bytes: [UInt8])
    /// An app receipt, in BER or DER.
    case receipt([UInt8])
    /// A response of `verifyReceipt`. The response isn't signed, so it can be shown, but not verified.
    case verifyReceiptResponse(VerifyReceiptResponse)

    /// The size of the largest file that can be an artifact, in bytes.
    public static let maximumSize = VerifyReceiptResponse.maximumSize

    /// Whether a text that was passed as a path is probably an artifact, and longer than most paths. A JWS begins with
    /// `ey` (`{"` in Base64), and a receipt with `MI` (the tag of a sequence in Base64).
    package static func isProbable(inPlaceOfPath path: String) -> Bool {
        path.utf8.count > 200 && (path.hasPrefix("ey") || path.hasPrefix("MI"))
    }

    /// Whether the artifact may contain a purchase in the app, according to its content, which isn't verified.
    package var mayContainPurchase: Bool {
        guard case .jws(let jws, _) = self else { return true }
        return jws.kind != .appTransaction && jws.kind != .renewalInfo
    }

    /// Reads a file: a JWS of any kind, the body of a notification's request, a receipt in BER, DER or Base64, or a
    /// response of `verifyReceipt`. Blanks before and after text are ignored.
    ///
    /// Throws `tooLarge`, or `malformed` for any other file. Also throws the errors of `UnverifiedJWS`,
    /// `VerifyReceiptResponse` and `receiptBytes(file:)`.
    public init(recognizing file: [UInt8]) throws(Rejection) {
        guard file.count <= Self.maximumSize else {
            throw Rejection(
                .tooLarge,
                "the file has \(file.count) bytes; an artifact of the App Store has at most \(Self.maximumSize)")
        }
        let text = file[...].trimmingASCIIWhitespace
        guard let firstByte = text.first else { throw Rejection(.malformed, "the file is empty") }
        if firstByte == UInt8(ascii: "{"), case .object(let object)? = try? JSONValue(parsing: Array(text)) {
            // The body of a notification's request.
            if case .string(let payload)? = object["signedPayload"] {
                self = .jws(try UnverifiedJWS(Array(payload.utf8)), bytes: Array(payload.utf8))
                return
            }
            guard VerifyReceiptResponse.isRecognized(in: object) else {
                throw Rejection(
                    .malformed,
                    "this JSON is neither a notification (`signedPayload`) nor a response of verifyReceipt (`status`, `receipt`)"
                )
            }
            self = .verifyReceiptResponse(try VerifyReceiptResponse(object))
            return
        }
        // A notification's body that isn't valid JSON: throw the parser's reason.
        if firstByte == UInt8(ascii: "{"), text.firstRange(of: #""signedPayload""#.utf8) != nil {
            do throws(JSONError) {
                _ = try JSONValue(parsing: Array(text))
            } catch {
                throw Rejection(.malformed, "the body of the notification can't be read: \(error)")
            }
        }
        if text.count(where: { $0 == UInt8(ascii: ".") }) == 2, text.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            self = .jws(try UnverifiedJWS(Array(text)), bytes: Array(text))
            return
        }
        // A receipt begins with the tag of a sequence, or with its Base64.
        let mayBeReceipt = firstByte == BERTag.sequence || firstByte == UInt8(ascii: "M")
        // A transaction receipt of iOS 6 begins with `{` or its Base64, and `receiptBytes` rejects it with a separate
        // message. `ey` is excluded, because a JWS begins with it.
        let mayBeTransactionReceipt =
            (firstByte == UInt8(ascii: "{") || firstByte == UInt8(ascii: "e")) && !text.starts(with: "ey".utf8)
        guard mayBeReceipt || mayBeTransactionReceipt else {
            throw Rejection(
                .malformed,
                "the file is neither a JWS, which has three parts separated by periods, nor a receipt in binary form or Base64; pass what the App Store signed, unchanged"
            )
        }
        self = .receipt(try receiptBytes(file: file))
    }

    /// The name of the kind of artifact; nil for a JWS of an unrecognized kind.
    public var kindName: String? {
        switch self {
        case .jws(let jws, _): jws.kind?.rawValue
        case .receipt: "receipt"
        case .verifyReceiptResponse: "verifyReceipt"
        }
    }
}
