import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

struct ReceiptEncodingTests {
    private func code(base64 text: String) -> Rejection.Code? {
        do {
            _ = try receiptBytes(base64: Array(text.utf8))
            return nil
        } catch { return error.code }
    }

    @Test func `the service accepts receipts only in canonical Base64`() throws {
        // A size that needs padding.
        let receipt = try ReceiptTestBed.minter().mint { $0.attributes.append(.init(type: 98, value: .octets([1]))) }
        let text = Data(receipt + Array(repeating: 0, count: (4 - receipt.count % 3) % 3)).base64EncodedString()
        #expect(code(base64: text) == nil)
        let stem = String(text.prefix { $0 != "=" })
        for bad in [
            "", text + "\n", "\n" + text, text + "====", text + "=", stem + (stem == text ? "=" : ""),
            text.replacing("/", with: "_").replacing("+", with: "-").replacing("A", with: "_", maxReplacements: 1),
            text.prefix(64) + "\r\n" + text.dropFirst(64), text + " ", "A", "AAA", "AA=A", "====",
        ] where bad != text {
            #expect(code(base64: bad) == .malformed, "\(bad.prefix(20))")
        }
        #expect(code(base64: "MB==") == .malformed, "unused bits that are not zero")
        #expect(code(base64: String(repeating: "A", count: ReceiptEncoding.maximumBase64Size + 4)) == .tooLarge)
    }

    @Test func `a receipt file may contain the receipt's bytes, or Base64 with line breaks`() throws {
        let receipt = try ReceiptTestBed.minter().mint()
        let xcode = try ReceiptTestBed.minter(.xcode).mint()
        for bytes in [receipt, xcode] {
            let text = Data(bytes).base64EncodedData(options: [.lineLength64Characters, .endLineWithCarriageReturn])
            #expect(try receiptBytes(file: bytes) == bytes)
            #expect(try receiptBytes(file: [0x20, 0x0A] + Array(text) + [0x0A]) == bytes)
            #expect(ReceiptEncoding(recognizing: bytes) == .binary)
            #expect(ReceiptEncoding(recognizing: [0x0A] + Array(text)) == .base64)
        }
    }

    @Test func `text of another kind isn't recognized as a receipt`() throws {
        for text in [
            "", "NOT A RECEIPT\n", "{\"status\":0}", "eyJhbGciOiJFUzI1NiJ9.e30.AA", "MIIB", "0", "\u{30}\u{03}\u{01}",
        ] {
            #expect(ReceiptEncoding(recognizing: Array(text.utf8)) == nil, "\(text)")
        }
        let rejection = #expect(throws: Rejection.self) {
            try receiptBytes(file: Array("NOT A RECEIPT, BUT TEXT\n".utf8))
        }
        #expect(rejection?.detail.contains("neither in binary form nor in Base64") == true)
    }

    @Test func `the error for an iOS 6 transaction receipt names this kind of receipt`() {
        let list = "{\n\t\"signature\" = \"AuMb\";\n\t\"purchase-info\" = \"ewo=\";\n\t\"pod\" = \"100\";\n}"
        for file in [Array(list.utf8), Array(Data(list.utf8).base64EncodedData())] {
            let rejection = #expect(throws: Rejection.self) { try receiptBytes(file: file) }
            #expect(rejection?.code == .malformed)
            #expect(rejection?.detail.contains("iOS 6") == true)
        }
    }
}
