// The types of `TenureCore` in the client's public interface. These lines make `import Tenure` enough to name them and
// to use members of any type in `TenureCore`, even with `MemberImportVisibility`. Other names in `TenureCore`,
// Foundation and StoreKit aren't exported.
@_exported public import struct TenureCore.Acquisition
@_exported public import enum TenureCore.AppStoreEnvironment
@_exported public import struct TenureCore.AppVersion
@_exported public import enum TenureCore.Beginning
@_exported public import struct TenureCore.CalendarPeriod
@_exported public import enum TenureCore.Changeover
@_exported public import struct TenureCore.Decision
@_exported public import struct TenureCore.Entitlement
@_exported public import struct TenureCore.Era
@_exported public import struct TenureCore.Honor
@_exported public import struct TenureCore.InvalidPolicy
@_exported public import enum TenureCore.NextStep
@_exported public import enum TenureCore.Platform
@_exported public import struct TenureCore.Policy
@_exported public import struct TenureCore.Release
@_exported public import enum TenureCore.Trial
