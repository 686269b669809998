import TenureAPI
import TenureJSON

extension JSONWriter {
    mutating func field(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    mutating func field(_ name: String, _ number: some BinaryInteger) {
        key(name)
        value(number)
    }

    mutating func field(_ name: String, _ digest: ContentDigest) { field(name, digest.description) }
}
