-- Webhooks as other services send them: standard signatures, rotation with overlap, filters, test events, replay.

alter table endpoints
  add column next_secret text, -- sealed like secret; takes its place at takes_over_at
  add column takes_over_at timestamptz(3),
  add column filters jsonb, -- by type of event; null if it receives all events of its types and teams
  -- Consecutive failed attempts, which make an inbox entry once.
  add column outage_attempts int not null default 0,
  add column outage_since timestamptz(3),
  add column outage_reported boolean not null default false;

-- The header webhook-signature as sent; null for attempts of the version before, which sends none.
alter table attempts add column standard_signature text;

alter table deliveries
  add column origin text not null default 'event', -- event, test, replay: what created it
  add column replay_id text; -- a replay sends it once more, after everything else that is due
create index deliveries_replayed on deliveries (endpoint_id, event_id) where replay_id is not null;

create table replays (
  id            text primary key,
  workspace_id  text not null references workspaces on delete cascade,
  endpoint_id   text not null references endpoints on delete cascade,
  which         text not null, -- failed, missed, all
  state         text not null, -- running, done, stopped
  matched       int not null,
  succeeded     int not null default 0,
  failed        int not null default 0,
  skipped       int not null default 0,
  failed_in_row int not null default 0,
  last_event_id text, -- the last one that was sent or skipped
  created_by    text references users on delete set null,
  created_at    timestamptz(3) not null,
  finished_at   timestamptz(3)
);
create index replays_endpoint on replays (endpoint_id, id desc);
create unique index replays_running on replays (endpoint_id) where state = 'running';
create index replays_creator on replays (created_by);

-- Events that a replay has not taken up yet. Event ids sort by time.
create table replay_events (
  replay_id text not null references replays on delete cascade,
  event_id  text not null,
  primary key (replay_id, event_id)
);

-- Outcomes of replayed deliveries that are not added to their replay yet. Written with the attempts, so that each is
-- counted exactly once, and in a table of its own, because workers would wait for each other in the replay's row.
create table replay_outcomes (
  replay_id   text not null,
  delivery_id text not null,
  succeeded   boolean not null,
  ended_at    timestamptz(3) not null,
  primary key (replay_id, delivery_id)
);
