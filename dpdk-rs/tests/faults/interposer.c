/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The l2fwd-rs authors
 *
 * Preloaded into a test's process: makes one call fail that DPDK makes to the system or to its own heap.
 *
 * A call counts only while the calling thread is inside the DPDK function that the test armed, and only if it comes from
 * one of DPDK's libraries. So the calls of Rust, of the C library and of the loader are never touched, nor are those of
 * other threads, which would make the count differ from run to run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What can be made to fail. The numbers are those of `Kind` in interposer.rs. */
enum kind { NOTHING, MEMORY, HEAP, MAPPING, FILE_OPEN, THREAD, CALL, KINDS };

static const char *const NAMES[KINDS] = {"", "memory", "heap", "mapping", "file", "thread", "call"};

/* glibc's own allocator, under the names that stay when malloc() is replaced. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* The armed fault. Written before the calls that it is for, by the thread that makes them. */
static enum kind armed_kind;
static const char *armed_function; /* or the start of several names, followed by a star */
static uint64_t armed_first; /* the number of the first call to fail, from 1; 0: none */
static bool armed_onwards;   /* all later ones fail too */

static __thread unsigned int depth; /* of armed functions on this thread's stack */
static __thread unsigned int heap;  /* of DPDK's heap functions on this thread's stack: one request counts once */
static uint64_t count;
static uint64_t failed;
static int list = -1; /* where each call is described */

/* For the test: what to make fail, and in which function. */
void
faults_arm(int kind, const char *function, uint64_t first, bool onwards)
{
	armed_kind = kind;
	armed_function = function;
	armed_first = first;
	armed_onwards = onwards;
	count = 0;
	failed = 0;
}

/* For the test: nothing fails any more; what was counted stays. */
void
faults_disarm(void)
{
	armed_function = NULL;
}

/* For the test: describe every call of the armed kind there from now on, or nowhere if it is -1. */
void
faults_list(int file)
{
	list = file;
}

/* For the test: whether malloc() is ours, and not that of a sanitizer. */
bool
faults_in_place(void)
{
	return dlsym(RTLD_DEFAULT, "malloc") == (void *)malloc;
}

/* For the test: how many calls were made to fail. */
uint64_t
faults_failed(void)
{
	return failed;
}

/* The file name of the object that the address is in. */
static const char *
object(const void *address, Dl_info *info)
{
	const char *slash;

	if (dladdr(address, info) == 0 || info->dli_fname == NULL)
		return "";
	slash = strrchr(info->dli_fname, '/');
	return slash != NULL ? slash + 1 : info->dli_fname;
}

/* Writes which call this is: the number, the function, and where it was called. */
static void
describe(int file, const char *function, const void *caller, const char *library, const Dl_info *info)
{
	char line[256];
	int len = snprintf(line, sizeof(line), "interposer: %s %llu: %s from %s+0x%tx (%s)\n", NAMES[armed_kind],
			(unsigned long long)count, function, library,
			(const char *)caller - (const char *)info->dli_fbase,
			info->dli_sname != NULL ? info->dli_sname : "?");

	/* A test that misses the line fails by itself. */
	(void)!write(file, line, len);
}

/* Whether this call is to fail. */
static bool
fails(enum kind kind, const void *caller, const char *function)
{
	Dl_info info;
	const char *library;

	if (depth == 0 || kind != armed_kind)
		return false;
	library = object(caller, &info);
	/* The second is what the pcap driver stands on, and nobody else here uses it. */
	if (strncmp(library, "librte_", 7) != 0 && strncmp(library, "libpcap.", 8) != 0)
		return false;
	count++;
	if (list >= 0)
		describe(list, function, caller, library, &info);
	if (armed_first == 0 || count < armed_first || (count > armed_first && !armed_onwards))
		return false;
	failed++;
	describe(STDERR_FILENO, function, caller, library, &info);
	return true;
}

#define CALLER __builtin_return_address(0)

/* --- the system's memory ------------------------------------------------------------------------------------------ */

#define MEMORY_FUNCTION(name, parameters, call) \
	void *name parameters \
	{ \
		if (fails(MEMORY, CALLER, #name)) { \
			errno = ENOMEM; \
			return NULL; \
		} \
		return call; \
	}

MEMORY_FUNCTION(malloc, (size_t size), __libc_malloc(size))
MEMORY_FUNCTION(calloc, (size_t number, size_t size), __libc_calloc(number, size))
MEMORY_FUNCTION(realloc, (void *block, size_t size), __libc_realloc(block, size))
MEMORY_FUNCTION(memalign, (size_t alignment, size_t size), __libc_memalign(alignment, size))
MEMORY_FUNCTION(aligned_alloc, (size_t alignment, size_t size), __libc_memalign(alignment, size))

int
posix_memalign(void **block, size_t alignment, size_t size)
{
	void *memory;

	if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
		return EINVAL;
	if (fails(MEMORY, CALLER, "posix_memalign"))
		return ENOMEM;
	memory = __libc_memalign(alignment, size);
	if (memory == NULL)
		return ENOMEM;
	*block = memory;
	return 0;
}

/* Functions of the C library that allocate for their caller: what they allocate inside does not count. */

char *
strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy;

	if (fails(MEMORY, CALLER, "strdup")) {
		errno = ENOMEM;
		return NULL;
	}
	copy = __libc_malloc(size);
	return copy != NULL ? memcpy(copy, text, size) : NULL;
}

char *
strndup(const char *text, size_t most)
{
	size_t len = strnlen(text, most);
	char *copy;

	if (fails(MEMORY, CALLER, "strndup")) {
		errno = ENOMEM;
		return NULL;
	}
	copy = __libc_malloc(len + 1);
	if (copy == NULL)
		return NULL;
	copy[len] = '\0';
	return memcpy(copy, text, len);
}

static int
print(char **text, const char *format, va_list arguments)
{
	va_list again;
	int len;

	va_copy(again, arguments);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	*text = len < 0 ? NULL : __libc_malloc((size_t)len + 1);
	return *text != NULL ? vsnprintf(*text, (size_t)len + 1, format, arguments) : -1;
}

#define PRINTING_FUNCTION(name, flags) \
	int name(char **text flags, const char *format, ...) \
	{ \
		va_list arguments; \
		int len; \
\
		if (fails(MEMORY, CALLER, #name)) { \
			errno = ENOMEM; \
			return -1; \
		} \
		va_start(arguments, format); \
		len = print(text, format, arguments); \
		va_end(arguments); \
		return len; \
	}

#define LIST_PRINTING_FUNCTION(name, flags) \
	int name(char **text flags, const char *format, va_list arguments) \
	{ \
		if (fails(MEMORY, CALLER, #name)) { \
			errno = ENOMEM; \
			return -1; \
		} \
		return print(text, format, arguments); \
	}

/* DPDK is built with fortified sources: then its calls are those with the flag. */
#define FLAG , int flag __attribute__((unused))

PRINTING_FUNCTION(asprintf, )
PRINTING_FUNCTION(__asprintf_chk, FLAG)
LIST_PRINTING_FUNCTION(vasprintf, )
LIST_PRINTING_FUNCTION(__vasprintf_chk, FLAG)

/* The next definition of a function, once it is found kept in `next`. */
#define NEXT(name) \
	static __typeof__(&name) next; \
	if (next == NULL) \
		next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* --- mappings, files, threads ------------------------------------------------------------------------------------- */

#define MAPPING_FUNCTION(name, offset_type) \
	void *name(void *address, size_t len, int protection, int flags, int file, offset_type offset) \
	{ \
		NEXT(name); \
		if (fails(MAPPING, CALLER, "mmap")) { \
			errno = ENOMEM; \
			return MAP_FAILED; \
		} \
		return next(address, len, protection, flags, file, offset); \
	}

MAPPING_FUNCTION(mmap, off_t)
MAPPING_FUNCTION(mmap64, off64_t)

/* The mode is passed on whether there is one or not: the next function looks at it only if there is. */
#define OPENING_FUNCTION(name) \
	int name(const char *path, int flags, ...) \
	{ \
		va_list arguments; \
		mode_t mode; \
\
		NEXT(name); \
		if (fails(FILE_OPEN, CALLER, "open")) { \
			errno = EMFILE; \
			return -1; \
		} \
		va_start(arguments, flags); \
		mode = va_arg(arguments, mode_t); \
		va_end(arguments); \
		return next(path, flags, mode); \
	}

OPENING_FUNCTION(open)
OPENING_FUNCTION(open64)

#define STREAM_OPENING_FUNCTION(name) \
	FILE *name(const char *path, const char *mode) \
	{ \
		NEXT(name); \
		if (fails(FILE_OPEN, CALLER, "fopen")) { \
			errno = EMFILE; \
			return NULL; \
		} \
		return next(path, mode); \
	}

STREAM_OPENING_FUNCTION(fopen)
STREAM_OPENING_FUNCTION(fopen64)

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	NEXT(pthread_create);
	if (fails(THREAD, CALLER, "pthread_create"))
		return EAGAIN;
	return next(thread, attributes, start, argument);
}

/* --- DPDK's own heap ---------------------------------------------------------------------------------------------- */

/* rte_errno. Looked up, since the interposer is also loaded into programs that have no DPDK, such as a shell. */
static void
set_rte_errno(int number)
{
	int *place = dlsym(RTLD_DEFAULT, "per_lcore__rte_errno");

	if (place != NULL)
		*place = number;
}

#define HEAP_FUNCTION(name, parameters, arguments) \
	void *name parameters; \
	void *name parameters \
	{ \
		void *result; \
\
		NEXT(name); \
		if (heap == 0 && fails(HEAP, CALLER, #name)) { \
			set_rte_errno(ENOMEM); \
			return NULL; \
		} \
		heap++; \
		result = next arguments; \
		heap--; \
		return result; \
	}

HEAP_FUNCTION(rte_malloc, (const char *type, size_t size, unsigned int align), (type, size, align))
HEAP_FUNCTION(rte_zmalloc, (const char *type, size_t size, unsigned int align), (type, size, align))
HEAP_FUNCTION(rte_calloc, (const char *type, size_t num, size_t size, unsigned int align), (type, num, size, align))
HEAP_FUNCTION(rte_realloc, (void *block, size_t size, unsigned int align), (block, size, align))
HEAP_FUNCTION(rte_malloc_socket, (const char *type, size_t size, unsigned int align, int socket),
		(type, size, align, socket))
HEAP_FUNCTION(rte_zmalloc_socket, (const char *type, size_t size, unsigned int align, int socket),
		(type, size, align, socket))
HEAP_FUNCTION(rte_calloc_socket, (const char *type, size_t num, size_t size, unsigned int align, int socket),
		(type, num, size, align, socket))
HEAP_FUNCTION(rte_memzone_reserve, (const char *name, size_t len, int socket, unsigned int flags),
		(name, len, socket, flags))
HEAP_FUNCTION(rte_memzone_reserve_aligned,
		(const char *name, size_t len, int socket, unsigned int flags, unsigned int align),
		(name, len, socket, flags, align))
HEAP_FUNCTION(rte_memzone_reserve_bounded,
		(const char *name, size_t len, int socket, unsigned int flags, unsigned int align, unsigned int bound),
		(name, len, socket, flags, align, bound))

/* --- where devices see memory -------------------------------------------------------------------------------------- */

/* The first fields of rte_memseg, and room for the others. */
struct memseg {
	uint64_t iova;
	const char *address;
	size_t len;
	unsigned char rest[64];
};

/* Devices see what begins here far away from what ends here. */
static const char *cut;

/* For the test: where, or NULL for nowhere. Only while DPDK is asked for addresses: it finds no segment of its own by such a copy. */
void
faults_cut_memory(const void *address)
{
	cut = address;
}

const struct memseg *rte_mem_virt2memseg(const void *address, const void *list);

const struct memseg *
rte_mem_virt2memseg(const void *address, const void *list)
{
	static __thread struct memseg piece;
	const struct memseg *whole;
	size_t before;

	NEXT(rte_mem_virt2memseg);
	whole = next(address, list);
	if (cut == NULL || whole == NULL || whole->address + whole->len <= cut)
		return whole;
	before = whole->address < cut ? (size_t)(cut - whole->address) : 0;
	memcpy(&piece, whole, offsetof(struct memseg, rest));
	if ((const char *)address < cut) {
		piece.len = before;
	} else {
		piece.address += before;
		piece.len -= before;
		piece.iova += before + (1 << 30);
	}
	return &piece;
}

/* --- the functions of DPDK that a test can arm -------------------------------------------------------------------- */

static bool
enter(const char *function)
{
	size_t len = armed_function != NULL ? strcspn(armed_function, "*") : 0;
	bool armed = len > 0 && strncmp(function, armed_function, len) == 0 &&
			(armed_function[len] == '*' || function[len] == '\0');

	if (armed)
		depth++;
	return armed;
}

int rte_eth_dev_stop(uint16_t port);

#define ARMED_FUNCTION(type, name, parameters, arguments) \
	type name parameters; \
	type name parameters \
	{ \
		type result; \
		bool armed; \
\
		NEXT(name); \
		armed = enter(#name); \
		result = next arguments; \
		if (armed) \
			depth--; \
		return result; \
	}

ARMED_FUNCTION(int, rte_eal_init, (int argc, char **argv), (argc, argv))
ARMED_FUNCTION(int, rte_eal_cleanup, (void), ())
ARMED_FUNCTION(int, rte_eth_dev_configure, (uint16_t port, uint16_t rx, uint16_t tx, const void *conf),
		(port, rx, tx, conf))
ARMED_FUNCTION(int, rte_eth_dev_set_mtu, (uint16_t port, uint16_t mtu), (port, mtu))
ARMED_FUNCTION(int, rte_eth_rx_queue_setup,
		(uint16_t port, uint16_t queue, uint16_t descriptors, unsigned int socket, const void *conf, void *pool),
		(port, queue, descriptors, socket, conf, pool))
ARMED_FUNCTION(int, rte_eth_tx_queue_setup,
		(uint16_t port, uint16_t queue, uint16_t descriptors, unsigned int socket, const void *conf),
		(port, queue, descriptors, socket, conf))
ARMED_FUNCTION(int, rte_eth_dev_start, (uint16_t port), (port))
ARMED_FUNCTION(int, rte_eth_dev_close, (uint16_t port), (port))
ARMED_FUNCTION(void *, rte_pktmbuf_pool_create,
		(const char *name, unsigned int size, unsigned int cache, uint16_t private, uint16_t room, int socket),
		(name, size, cache, private, room, socket))

/* The driver refuses it. */
int
rte_eth_dev_stop(uint16_t port)
{
	int result = -EIO;
	bool armed;

	NEXT(rte_eth_dev_stop);
	armed = enter("rte_eth_dev_stop");
	if (armed && armed_kind == CALL && ++count >= armed_first && (count == armed_first || armed_onwards))
		failed++;
	else
		result = next(port);
	if (armed)
		depth--;
	return result;
}

/* --- a crash ------------------------------------------------------------------------------------------------------- */

/* Names the objects and exported functions on the stack, innermost first, and ends as the signal would have. */
static void
crashed(int number)
{
	static const char TITLE[] = "interposer: crash\n";
	void *frames[24];

	signal(number, SIG_DFL);
	(void)!write(STDERR_FILENO, TITLE, sizeof(TITLE) - 1);
	backtrace_symbols_fd(frames, backtrace(frames, 24), STDERR_FILENO);
	raise(number);
}

/* For the test: crashes are described on stderr from now on. */
void
faults_watch_crashes(void)
{
	void *frame;

	/* The first call loads a library, which a handler must not. */
	(void)backtrace(&frame, 1);
	signal(SIGSEGV, crashed);
	signal(SIGBUS, crashed);
	signal(SIGFPE, crashed);
	signal(SIGABRT, crashed);
}
