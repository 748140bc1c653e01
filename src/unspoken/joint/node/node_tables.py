"""The tables in which a node keeps what it knows."""

from __future__ import annotations

VERSION = 3
TABLES = """
CREATE TABLE IF NOT EXISTS peers (name TEXT PRIMARY KEY, address TEXT NOT NULL,
    certificate BLOB NOT NULL, trusted INTEGER NOT NULL, shown TEXT NOT NULL DEFAULT '',
    expected TEXT NOT NULL DEFAULT '', time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS invitations (token TEXT PRIMARY KEY, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS proposals (id TEXT PRIMARY KEY, body TEXT NOT NULL, state TEXT NOT NULL,
    result TEXT NOT NULL DEFAULT '', story TEXT NOT NULL DEFAULT '', time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS verdicts (proposal TEXT NOT NULL, node TEXT NOT NULL, body TEXT NOT NULL,
    agrees INTEGER NOT NULL, rule TEXT NOT NULL DEFAULT '', columns TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (proposal, node));
CREATE TABLE IF NOT EXISTS attempts (proposal TEXT NOT NULL, n INTEGER NOT NULL,
    command TEXT NOT NULL, PRIMARY KEY (proposal, n));
CREATE TABLE IF NOT EXISTS reports (proposal TEXT NOT NULL, n INTEGER NOT NULL, node TEXT NOT NULL,
    state TEXT NOT NULL, story TEXT NOT NULL DEFAULT '', again INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (proposal, n, node));
CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY, time REAL NOT NULL,
    proposal TEXT NOT NULL, what TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS successions (name TEXT PRIMARY KEY, body TEXT NOT NULL,
    confirmed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS confirmations (peer TEXT NOT NULL, certificate TEXT NOT NULL,
    PRIMARY KEY (peer, certificate));
CREATE TABLE IF NOT EXISTS contacts (name TEXT PRIMARY KEY, heard REAL NOT NULL,
    words TEXT NOT NULL);
"""
