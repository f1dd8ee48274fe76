// The functions of OpenMP that programs call, for `heddle c++` where clang has no OpenMP library of its own: the
// directives of CUDA sources are then serial, and these functions are those of the host compiler's library.
#ifndef _OMP_H
#define _OMP_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct omp_lock_t {
  unsigned char storage[4] __attribute__((aligned(4)));
} omp_lock_t;
typedef enum omp_sched_t {
  omp_sched_static = 1,
  omp_sched_dynamic = 2,
  omp_sched_guided = 3,
  omp_sched_auto = 4
} omp_sched_t;
void omp_set_num_threads(int threads);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);
void omp_set_dynamic(int dynamic);
int omp_get_dynamic(void);
void omp_set_nested(int nested);
int omp_get_nested(void);
void omp_set_schedule(omp_sched_t kind, int chunk);
int omp_get_thread_limit(void);
int omp_get_level(void);
int omp_get_num_devices(void);
int omp_get_default_device(void);
int omp_is_initial_device(void);
double omp_get_wtime(void);
double omp_get_wtick(void);
void omp_init_lock(omp_lock_t* lock);
void omp_destroy_lock(omp_lock_t* lock);
void omp_set_lock(omp_lock_t* lock);
void omp_unset_lock(omp_lock_t* lock);
int omp_test_lock(omp_lock_t* lock);
#ifdef __cplusplus
}
#endif
#endif
