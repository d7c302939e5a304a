-- Why a replay skipped events: how many for each reason. Empty for replays of earlier versions.
alter table replays add column skipped_reasons jsonb not null default '{}';
