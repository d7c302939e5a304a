-- The IANA name of a person's time zone; null until they choose one, which counts as UTC.

alter table users add column time_zone text;
