#ifndef TENURE_CSTOREKIT_H
#define TENURE_CSTOREKIT_H

/// Swift's, in the module StoreKit: called once, when the program is loaded.
void tenure_storekit_loaded(void);

#endif
