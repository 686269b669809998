import Crypto
import Foundation
import TenureJSON
import Testing

@testable import TenureServer

@Suite struct `message authentication codes` {
    @Test(arguments: [0, 1, 32, 63, 64, 65, 200])
    func `message authentication codes equal swift-crypto's HMAC-SHA256 for any length of key and message`(size: Int) {
        let key = SymmetricKey(data: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let code = MessageCode(key: key)
        for length in [0, 1, 18, 26, 64, 1000] {
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
            let right = Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
            #expect(Array(code.code(of: message)) == right)
            // A text of a code alone has no message.
            guard length > 0 else { continue }
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
