import Crypto
import Foundation
import TenureJSON
import Testing

@testable import TenureServer

@Suite struct `message authentication codes` {
    @Test func `a message authentication code equals the code in RFC 4231`() {
        let code = MessageCode(key: SymmetricKey(data: Array("Jefe".utf8)))
        let message = Array("what do ya want for nothing?".utf8)
        let digits = message.withUnsafeBytes { Array(code.code(of: $0)) }.map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        #expect(digits.joined() == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test(arguments: [0, 1, 32, 63, 64, 65, 200])
    func `message authentication codes equal swift-crypto's HMAC-SHA256 for any length of key and message`(size: Int) {
        let key = SymmetricKey(data: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let code = MessageCode(key: key)
        for length in [0, 1, 18, 26, 64, 1000] {
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
            let right = Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
            #expect(message.withUnsafeBytes { Array(code.code(of: $0)) } == right)
            #expect(code.text(of: message) == Base64.urlSafe.text(message + right))
            // A text of a code alone has no message, so it is rejected.
            guard length > 0 else {
                #expect(code.bytes(in: Array(Base64.urlSafe.text(right).utf8)) == nil)
                continue
            }
            let isValid = { (code: MessageCode, bytes: [UInt8]) in
                code.bytes(in: Array(Base64.urlSafe.text(message + bytes).utf8)) == message + bytes
            }
            #expect(isValid(code, right))
            #expect(!isValid(code, Array(right.dropLast())))
            for index in [0, 15, 31] {
                var wrong = right
                wrong[index] ^= 1
                #expect(!isValid(code, wrong))
            }
        }
    }
}
