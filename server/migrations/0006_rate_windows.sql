-- The calls that apps made within the last minute, exactly: a ring of as many times as the limit allows.

create unlogged table rate_windows (
  id      bigint generated always as identity,
  key     text not null,
  max     int not null, -- part of the key: a ring cannot change its size
  taken   bigint not null default 0, -- calls so far; the next one is number `taken`
  first   bigint not null default 0, -- number of the oldest that still counts
  last_at bigint not null default 0, -- ms since 1970
  primary key (key, max)
) with (fillfactor = 50);

-- Call number n stands in slot n mod max, and is overwritten in place: `at` is in no index and pages have room.
create unlogged table rate_window_calls (
  window_id bigint not null,
  slot      int not null,
  at        bigint not null,
  primary key (window_id, slot)
) with (fillfactor = 80);

-- Takes one call from a window, or says that it is full. Whoever comes second waits for the row of the window; the
-- statements after that see what the first one did, because each statement of a volatile function has a snapshot of
-- its own. Time never runs backwards within a window, though the clocks of two processes may differ. Without a key
-- (strict) nothing is taken. Scans are off because a plan made while the tables were tiny would stay.
create function take_from_window(wanted text, size int, period_ms bigint, now_ms bigint,
  out allowed boolean, out remaining int, out reset_ms bigint)
language plpgsql volatile strict set enable_seqscan = off as $$
declare
  held   rate_windows;
  at_ms  bigint;
  oldest bigint; -- time of call number `upto`
  upto   bigint;
  step   bigint := 1;
  probe  bigint;
  probed bigint;
begin
  loop
    select * into held from rate_windows w where w.key = wanted and w.max = size for no key update;
    exit when found;
    insert into rate_windows (key, max) values (wanted, size) on conflict do nothing;
  end loop;
  at_ms := greatest(now_ms, held.last_at);

  -- Times grow with their numbers: look ever further ahead for one that still counts, then closer again.
  upto := held.taken;
  while held.first < upto loop
    probe := least(held.first + step, upto) - 1;
    select c.at into strict probed from rate_window_calls c where c.window_id = held.id and c.slot = probe % size;
    if probed <= at_ms - period_ms then
      held.first := probe + 1;
      step := step * 2;
    else
      upto := probe;
      oldest := probed;
      step := 1;
    end if;
  end loop;

  allowed := held.taken - held.first < size;
  if allowed then
    if held.taken < size then
      insert into rate_window_calls (window_id, slot, at) values (held.id, held.taken, at_ms);
    else
      update rate_window_calls c set at = at_ms where c.window_id = held.id and c.slot = held.taken % size;
    end if;
    held.taken := held.taken + 1;
    update rate_windows w set taken = held.taken, first = held.first, last_at = at_ms
      where w.key = wanted and w.max = size;
  end if;
  remaining := size - (held.taken - held.first);
  reset_ms := coalesce(oldest, at_ms) + period_ms - now_ms;
end $$;
