"""The functions that a statement may call: they compute from their arguments, and reach nothing else.

Everything that is not listed is refused, so what a later database can do is refused, too, until it has been reviewed.
The names are DuckDB's scalar, aggregate and window functions, without those that tell of the session, its settings,
its catalogue or the machine, that keep a state, wait, write a log, or run text as SQL. Of some families every function
computes from a list, a text, pairs of numbers or a struct, so they are listed by how their names begin.
"""

from __future__ import annotations

FAMILIES = ("array_", "list_", "regexp_", "regr_", "struct_")
_NAMES = """
abs acos acosh add age aggregate ago any_value apply approx_count_distinct approx_quantile approx_top_k arbitrary
arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin ascii asin asinh atan
atan2 atanh avg bar base64 bin binom bit_and bit_count bit_length bit_or bit_position bit_xor bitstring bitstring_agg
bool_and bool_or cardinality cast cbrt ceil ceiling century char_length character_length chr coalesce concat concat_ws
contains corr cos cosh cot count count_if count_star countif covar_pop covar_samp cume_dist current_date
current_localtime current_localtimestamp current_time current_timestamp damerau_levenshtein date_add date_diff
date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear
days_in_month decade decimal_average decimal_division decode degrees dense_rank divide editdist3 element_at encode
ends_with entropy enum_code enum_first enum_last enum_range enum_range_boundary epoch epoch_ms epoch_ns epoch_us
equi_width_bins era even exp extract factorial favg fdiv fill filter first first_value flatten floor fmod format
format_bytes format_pg_type format_type formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex
from_json from_json_strict fsum gamma gcd gen_random_uuid generate_series generate_subscripts geomean geometric_mean
get_bit get_current_time get_current_timestamp grade_up greatest greatest_common_divisor group_concat grouping
grouping_id hamming hash hex histogram histogram_exact hour if ifnull ilike_escape instr isfinite isinf isnan isodow
isoyear jaccard jaro_similarity jaro_winkler_similarity json json_array json_array_length json_contains json_deep_merge
json_exists json_extract json_extract_path json_extract_path_text json_extract_string json_group_array
json_group_object json_group_structure json_insert json_keys json_merge_patch json_merge_patch_diff json_normalize
json_object json_pretty json_quote json_remove json_replace json_set json_strip_nulls json_structure json_transform
json_transform_strict json_type json_valid json_value julian kahan_sum kurtosis kurtosis_pop lag last last_day
last_value lcase lcm lead least least_common_multiple left left_grapheme len length length_grapheme levenshtein lgamma
like_escape list listagg ln localtime localtimestamp log log10 log2 lower lpad ltrim mad make_date make_time
make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz map map_concat map_contains map_contains_entry
map_contains_value map_entries map_extract map_extract_value map_from_entries map_keys map_values max max_by md5
md5_number md5_number_lower md5_number_upper md_extract_code_blocks md_extract_headers md_extract_links md_stats mean
median microsecond millennium millisecond min min_by minute mismatches mod mode month monthname multiply nanosecond
nextafter nfc_normalize normalized_interval not_ilike_escape not_like_escape now nth_value ntile nullif octet_length
ord overlay parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path path_join percent_rank
percentile_cont percentile_disc pi position pow power prefix printf product quantile quantile_cont quantile_disc
quarter radians random range rank rank_dense reduce repeat replace reservoir_quantile reverse right right_grapheme
round round_even roundbankers row row_number row_to_json rpad rtrim second sem set_bit sha1 sha256 sign signbit sin
sinh skewness split split_part sqrt starts_with stddev stddev_pop stddev_samp str_split str_split_regex strftime
string_agg string_split string_split_regex string_to_array strip_accents strlen strpos strptime struct substr substring
substring_grapheme subtract suffix sum sum_no_overflow sumkahan tan tanh time_bucket timezone timezone_hour
timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds
to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today
transaction_timestamp translate trim trunc try_cast try_strptime typeof ucase unbin unhex unicode union_extract
union_tag union_value unnest unpivot_list upper url_decode url_encode uuid uuid_extract_timestamp uuid_extract_version
uuidv4 uuidv7 var_pop var_samp variance wavg week weekday weekofyear weighted_avg xor year yearweek
"""
_COMPUTING = frozenset(_NAMES.split())
TABLES = frozenset(("unnest", "generate_series", "range"))


def is_computing(name: str) -> bool:
    """Whether the function of a name, in lower case, may be called."""
    return name in _COMPUTING or name.startswith(FAMILIES)
