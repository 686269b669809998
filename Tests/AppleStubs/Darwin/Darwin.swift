// Linux has the same POSIX functions under another name.
@_exported import Glibc

public typealias kern_return_t = Int32
public typealias mach_port_t = UInt32
public let KERN_SUCCESS: kern_return_t = 0
public let MACH_PORT_NULL: Int32 = 0
