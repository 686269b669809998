// Swift bridges `String`, `URL` and dictionaries to these types on Apple platforms only. Here literals and equal types
// take the place of bridging:
//
// - `"text" as CFString` compiles; `variable as CFString` does not. Constants and literals need nothing else.
// - `[CFString: Any]` and `CFDictionary` are the same type, and so are `URL` and `CFURL`.

import Foundation

public struct CFString: Hashable, Sendable, ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {}
}

public typealias CFDictionary = [CFString: Any]
public typealias CFMutableDictionary = [CFString: Any]
public typealias CFTypeRef = AnyObject
public typealias CFURL = URL
public typealias OSStatus = Int32

public final class CFAllocator: Sendable {}

public let kCFAllocatorDefault: CFAllocator! = nil
public let noErr: OSStatus = 0
