// mbarrier objects; see translator.h.
#include "compiler/transform/translator.h"

namespace heddle::transform {

bool Translator::translate_mbarrier_init() { return not_supported("mbarrier"); }
bool Translator::translate_mbarrier_inval() { return not_supported("mbarrier"); }
bool Translator::translate_mbarrier_arrive() { return not_supported("mbarrier"); }
bool Translator::translate_mbarrier_arrive_remote() { return not_supported("mbarrier"); }
bool Translator::translate_mbarrier_expect_tx() { return not_supported("mbarrier"); }
bool Translator::translate_mbarrier_wait() { return not_supported("mbarrier"); }
bool Translator::translate_mbarrier_pending_count() { return not_supported("mbarrier"); }
bool Translator::translate_copy_async_arrive() { return not_supported("mbarrier"); }
bool Translator::translate_copy_bulk() { return not_supported("bulk copies"); }

}  // namespace heddle::transform
