import CoreFoundation
import Foundation

#if os(macOS) || targetEnvironment(macCatalyst)
    public final class SecStaticCode {}
    public final class SecRequirement {}

    public struct SecCSFlags: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
    }

    public let kSecCSBasicValidateOnly: UInt32 = 6

    public func SecStaticCodeCreateWithPath(
        _ path: CFURL, _ flags: SecCSFlags, _ staticCode: UnsafeMutablePointer<SecStaticCode?>
    ) -> OSStatus { 0 }

    public func SecRequirementCreateWithString(
        _ text: CFString, _ flags: SecCSFlags, _ requirement: UnsafeMutablePointer<SecRequirement?>
    ) -> OSStatus { 0 }

    public func SecStaticCodeCheckValidity(
        _ staticCode: SecStaticCode, _ flags: SecCSFlags, _ requirement: SecRequirement?
    ) -> OSStatus { 0 }
#endif
