/** The function with which PostgreSQL admits requests of several keys in one statement. */

/**
 * Admits requests of several keys, each under the lock of its key's row, and answers a row for each key. Without
 * `waits`, a key that another transaction has locked is answered with `admitted` null. `given` replaces the clock.
 */
export const ADMIT_REQUESTS = `
create function admit_requests(
  keys text[], wanted bigint[], per_minute bigint[], per_day bigint[], given bigint, waits boolean
) returns table (
  key_id text, admitted bigint, moment bigint,
  minute_used bigint, minute_oldest_at bigint, day_used bigint, day_oldest_at bigint
) language plpgsql
-- A session would stay with the sequential scan that it planned while the table was empty.
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  forever constant bigint := 9223372036854775807;
  clock bigint;
  newest_at bigint;
  newest_total bigint;
  before_minute bigint;
  before_day bigint;
begin
  for i in 1 .. cardinality(keys) loop
    key_id := keys[i];
    -- The first pass looks without a lock, so that a full window refuses without writing.
    for pass in 1 .. 2 loop
      if pass = 2 and waits then
        perform from api_keys where id = key_id for no key update;
      elsif pass = 2 then
        perform from api_keys where id = key_id for no key update skip locked;
        if not found then
          admitted := null;
          exit;
        end if;
      end if;
      -- Pairs are compared and sorted by, because the planner could take the index of times alone for one key, and
      -- read the hits of all others.
      clock := coalesce(given, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
      select h.at, h.total into newest_at, newest_total from rate_hits h
        where (h.api_key_id, h.at) >= (key_id, 0) and (h.api_key_id, h.at) <= (key_id, forever)
        order by h.api_key_id desc, h.at desc limit 1;
      -- Hits of a clock that was far ahead would stop this key until that time has come.
      if newest_at > clock + 60000 then
        continue when pass = 1;
        delete from rate_hits h where h.api_key_id = key_id and h.at > clock + 60000;
        select h.at, h.total into newest_at, newest_total from rate_hits h
          where (h.api_key_id, h.at) >= (key_id, 0) and (h.api_key_id, h.at) <= (key_id, forever)
          order by h.api_key_id desc, h.at desc limit 1;
      end if;
      moment := greatest(newest_at, clock);
      select h.at, h.total - h.count into minute_oldest_at, before_minute from rate_hits h
        where (h.api_key_id, h.at) > (key_id, moment - 60000) and (h.api_key_id, h.at) <= (key_id, forever)
        order by h.api_key_id, h.at limit 1;
      select h.at, h.total - h.count into day_oldest_at, before_day from rate_hits h
        where (h.api_key_id, h.at) > (key_id, moment - 86400000) and (h.api_key_id, h.at) <= (key_id, forever)
        order by h.api_key_id, h.at limit 1;
      minute_used := coalesce(newest_total - before_minute, 0);
      day_used := coalesce(newest_total - before_day, 0);
      -- A limit that is null is left out by least().
      admitted := greatest(least(wanted[i], per_minute[i] - minute_used, per_day[i] - day_used), 0);
      exit when admitted = 0;
    end loop;
    if admitted > 0 then
      insert into rate_hits as h (api_key_id, at, count, total)
        values (key_id, moment, admitted, coalesce(newest_total, 0) + admitted)
        on conflict (api_key_id, at) do update set count = h.count + excluded.count, total = excluded.total;
      minute_used := minute_used + admitted;
      day_used := day_used + admitted;
      minute_oldest_at := coalesce(minute_oldest_at, moment);
      day_oldest_at := coalesce(day_oldest_at, moment);
    end if;
    return next;
  end loop;
end $$`
