/* The one function of bcryptprimitives.dll that Rust's standard library calls, for a Wine that has no
   such library. It fills `data` with random bytes. */

#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    while (length > 0) {
        ULONG part = length < MAXDWORD ? (ULONG)length : MAXDWORD;
        if (!RtlGenRandom(data, part))
            return FALSE;
        data += part;
        length -= part;
    }
    return TRUE;
}
