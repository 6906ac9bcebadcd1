# The C declarations of csrc/learner/learner.h that the binding uses.

from libc.stdint cimport int32_t, int64_t, uint8_t

from midrange_puffer._threads cimport MrThreads

cdef extern from "learner/learner.h" nogil:
    enum:
        MR_MAX_LAYERS
        MR_HEADS_MIN
        MR_HEADS_MAX
        MR_OUTPUTS_MAX
        MR_MAX_KINDS
        MR_MAX_ARRAYS

    ctypedef struct MrEntityRows:
        int32_t rows, features, place, per_fighter, stride

    ctypedef struct MrShape:
        int32_t features, layers
        int32_t width[MR_MAX_LAYERS]
        bint is_continuous
        int32_t heads
        int32_t levels[MR_HEADS_MAX]
        float middle[MR_HEADS_MAX]
        float reach[MR_HEADS_MAX]
        float deviation[2]
        int32_t own, kinds, entity_size
        MrEntityRows rows[MR_MAX_KINDS]
        int32_t targets
        int32_t fighters, own_alive

    ctypedef struct MrArray:
        int32_t at, rows, columns
        bint is_matrix

    ctypedef struct MrSeen:
        int32_t count
        const float *observations
        int64_t row
        const float *rewards
        const uint8_t *ends

    ctypedef struct MrKeep:
        float *observations
        int64_t width
        void *actions
        float *logprobs
        float *values
        float *rewards
        float *terminals
        int64_t stride

    ctypedef struct MrExperience:
        int32_t horizon
        const float *observations
        int64_t width
        const void *actions
        const float *proximal
        const float *values

    ctypedef struct MrChoice:
        const int64_t *rows
        const int32_t *decisions
        int32_t count

    ctypedef struct MrMinibatch:
        const float *advantages
        const float *returns

    ctypedef struct MrLossSettings:
        float clip, value_clip, value_weight, entropy_weight

    ctypedef struct MrLosses:
        double policy_loss, value_loss, entropy, old_approx_kl, approx_kl, clipfrac, importance

    ctypedef struct MrOutcomes:
        int32_t horizon
        const float *values
        const float *rewards
        const float *terminals
        const float *ratio

    ctypedef struct MrTraceSettings:
        float gamma, rho_clip, c_clip
        float lambda_ "lambda"  # a keyword of Python

    ctypedef struct MrLearner:
        pass

    const char *const *mr_learner_isas()
    MrLearner *mr_learner_create(const MrShape *shape, MrThreads *threads, bint learns,
                                 const char *isa)
    void mr_learner_destroy(MrLearner *learner)
    int32_t mr_learner_arrays(const MrLearner *learner, MrArray *arrays, int32_t *size)
    void mr_learner_load(MrLearner *learner, const float *parameters)
    void mr_learner_act(MrLearner *learner, const MrSeen *seen, const float *noise, void *actions,
                        const MrKeep *keep)
    void mr_learner_score(MrLearner *learner, const MrExperience *experience,
                          const MrChoice *choice, float *logprobs, float *values)
    void mr_learner_gradient(MrLearner *learner, const MrExperience *experience,
                             const MrChoice *choice, const MrMinibatch *minibatch,
                             const MrLossSettings *settings,
                             float scale, float *gradient, float *logprobs, float *values,
                             MrLosses *losses)
    void mr_learner_muon(MrLearner *learner, float *parameters, float *momentum,
                         const float *gradient, float rate, float beta, float max_norm)
    void mr_learner_adam(MrLearner *learner, float *parameters, float *mean, float *square,
                         const float *gradient, float rate, float beta1, float beta2, float epsilon,
                         int64_t step, float max_norm)
    void mr_learner_advantages(const MrOutcomes *outcomes, const MrTraceSettings *settings,
                               const int64_t *rows, int32_t count, float *advantages,
                               float *priorities)
