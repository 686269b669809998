// The types of `TenureCore` in the client's public interface. These lines make `import Tenure` enough to name them and to
// use members of any type in `TenureCore`, even with `MemberImportVisibility`. Other names in `TenureCore`, Foundation
// and StoreKit are not exported.
@_exported public import struct TenureCore.Acquisition
@_exported public import enum TenureCore.AppStoreEnvironment
@_exported public import struct TenureCore.CalendarPeriod
@_exported public import struct TenureCore.Decision
@_exported public import enum TenureCore.NextStep
@_exported public import enum TenureCore.Platform
@_exported public import struct TenureCore.Policy
